// SPDX-License-Identifier: Apache-2.0
// Random words that clusters make where they need them: bits, launches, bytes, and what keeps an array.
#include "engine/compile/compile.hpp"
#include "engine/compile/fused_op.hpp"
#include "engine/compile/passes.hpp"
#include "engine/core/map_algebra.hpp"
#include "engine/core/store.hpp"
#include "engine/inspect/dry_run.hpp"
#include "engine/inspect/dump.hpp"
#include "engine/memory/arena.hpp"
#include "engine/ops/cumulative.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/random.hpp"
#include "engine/transform/control.hpp"
#include "engine/transform/external.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/engine/compile/random_programs.hpp"
#include "tests/unit/engine/compile/work_of.hpp"
#include "tests/unit/engine/jit_of_tests.hpp"

using namespace lodestone;
using namespace lodestone::engine;
using tests::plan_of;
using tests::same_bits;
using tests::Threads;
using tests::Work;
using tests::work_of;

namespace {

constexpr Dim n = 240;
constexpr std::size_t key_bytes = 24;

Tensor key_at(std::int64_t position) { return advance(random_key(5, 3), position).eval(); }
Tensor keys_of(Dim count) { return split_key(random_key(11), count).eval(); }
Tensor vector_of(Dim count) { return tests::drawn({count}, 7); }

/// Drops a fifth of x, as the layer does.
Tensor dropped(const Tensor& x, const Tensor& key) {
  return select(random_bernoulli(key, 0.8, x.shape()), x * 1.25, 0.0);
}

/// Returns what a function of one key draws.
Function drawing(Tensor (*f)(const Tensor& key)) {
  return [f](const Tensors& in) -> Tensors { return {f(in[0])}; };
}

/// Returns the launches of a plan that give an array of random words.
std::int64_t n_arrays(const Plan& plan) {
  return std::ranges::count_if(plan.running().instructions(),
                               [](const Instruction& each) { return each.op->name == "random_bits"; });
}
std::int64_t n_arrays(const Function& f, const Tensors& inputs) {
  const auto plan = plan_of(f, inputs, Level::O1);
  CHECK(same_bits(plan->run(inputs), f(inputs)));
  return n_arrays(*plan);
}

/// Draws of every kind, of one key.
Tensors all_draws(const Tensors& in, Dim count) {
  int i = 0;
  const auto key = [&] { return advance(in[0], i++); };  // each draw has its own
  return {random_uniform(key(), {count}),
          random_uniform(key(), {count}, DType::f64),
          random_normal(key(), {count}),
          random_normal(key(), {count}, DType::f64),
          random_bernoulli(key(), 0.3, {count}),
          random_integers(key(), {count}, -5, 12),
          cast(random_bits(key(), {count}), DType::f64) * 2.0,
          cast(random_bits(key(), {count}, DType::u64), DType::f64) * 2.0,
          cast(slice(random_bits(key(), {count, 3}), 1, 1, 2), DType::f64)};
}

}  // namespace

TEST_CASE("random loads: drawing is one launch that reads a key and writes what is drawn", "[engine]") {
  const Tensor key = key_at(0);
  const Function dropout = [](const Tensors& in) -> Tensors { return {dropped(in[0], in[1])}; };
  CHECK(work_of(dropout, {vector_of(n), key}) == Work{1, key_bytes + 2 * 8 * n});
  CHECK(work_of(drawing([](const Tensor& k) { return random_uniform(k, {n}); }), {key}) ==
        Work{1, key_bytes + 4 * n});
  CHECK(work_of(drawing([](const Tensor& k) { return random_uniform(k, {n}, DType::f64); }), {key}) ==
        Work{1, key_bytes + 8 * n});
  CHECK(work_of(drawing([](const Tensor& k) { return random_normal(k, {n}); }), {key}) ==
        Work{1, key_bytes + 4 * n});
  CHECK(work_of(drawing([](const Tensor& k) { return random_normal(k, {n}, DType::f64); }), {key}) ==
        Work{1, key_bytes + 8 * n});
  CHECK(work_of(drawing([](const Tensor& k) { return random_bernoulli(k, 0.3, {n}); }), {key}) ==
        Work{1, key_bytes + n});
  CHECK(work_of(drawing([](const Tensor& k) { return random_integers(k, {n}, 3, 9); }), {key}) ==
        Work{1, key_bytes + 8 * n});
  CHECK(work_of(drawing([](const Tensor& k) {
                  return sum(random_uniform(k, {100, n}));
                }),
                {key}) == Work{1, key_bytes + 4});
  CHECK(work_of(drawing([](const Tensor& k) { return random_uniform(k, {}); }), {key}) ==
        Work{1, key_bytes + 4});
}

TEST_CASE(
    "random loads: the bits of eager runs at any position and size, on 1, 2 and 3 threads, also by text",
    "[engine]") {
  tests::TestJit jit;
  for (const Dim count : {0, 1, 63, 64, 65, 255, 1025, 2049, 100003}) {
    const Function f = [count](const Tensors& in) { return all_draws(in, count); };
    for (const std::int64_t position : {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{3},
                                        std::int64_t{517}, (std::int64_t{1} << 34) - 5}) {
      if (count > 3000 && position != 3) continue;
      INFO(count << " elements at " << position);
      const Tensors in{key_at(position)};
      const Tensors right = f(in);
      eval(right);
      CHECK(same_bits(plan_of(f, in, Level::O0)->run(in), right));
      for (const int n_threads : {1, 2, 3}) {
        const Threads scope(n_threads);
        const auto plan = plan_of(f, in, Level::O1), by_text = plan_of(f, in, Level::O1, *jit);
        CHECK(same_bits(plan->run(in), right));
        CHECK(same_bits(by_text->run(in), right));
        if (count == 0) continue;
        CHECK(n_arrays(*plan) == 0);
        CHECK(by_text->n_by_text() > 0);
      }
    }
  }
}

TEST_CASE("random loads: words are seen in their order, one of at most four, else they are an array",
          "[engine]") {
  const Tensors key{key_at(1)};
  const auto seen = [&](const Shape& shape, const std::function<Tensor(const Tensor&)>& view) {
    return n_arrays(
        [&](const Tensors& in) -> Tensors {
          return {cast(view(random_bits(in[0], shape)), DType::f64) * 0.5};
        },
        key);
  };
  CHECK(seen({n, 3}, [](const Tensor& x) { return reshape(x, {3 * n}); }) == 0);
  CHECK(seen({n, 3}, [](const Tensor& x) { return slice(x, 0, 5, n - 1); }) == 0);
  CHECK(seen({n, 4}, [](const Tensor& x) { return slice(x, 1, 3, 4); }) == 0);
  CHECK(seen({n, 5}, [](const Tensor& x) { return slice(x, 1, 4, 5); }) == 1);
  CHECK(seen({n}, [](const Tensor& x) { return slice(x, 0, 1, n, 4); }) == 0);
  CHECK(seen({n}, [](const Tensor& x) { return slice(x, 0, 1, n, 5); }) == 1);
  CHECK(seen({n, 1}, [](const Tensor& x) { return transpose(x); }) == 0);
  CHECK(seen({n, 2}, [](const Tensor& x) { return transpose(x); }) == 1);
  CHECK(seen({n, 3}, [](const Tensor& x) { return slice(x, 1, 0, 2); }) == 1);  // two of three
  CHECK(seen({1}, [](const Tensor& x) { return flip(x, 0); }) == 0);
  CHECK(seen({n}, [](const Tensor& x) { return flip(x, 0); }) == 1);
  CHECK(seen({n, 1}, [](const Tensor& x) { return broadcast_to(x, {n, 2}); }) == 1);
  CHECK(seen({n, 1}, [](const Tensor& x) { return broadcast_to(x, {2, n, 1}); }) == 1);
}

TEST_CASE("random loads: words that leave, or that others than elementwise ops take, are an array",
          "[engine]") {
  const Tensors key{key_at(2)};
  const auto of_words = [&](const std::function<Tensors(const Tensor&)>& use) {
    return n_arrays([&](const Tensors& in) { return use(random_bits(in[0], {n, 2})); }, key);
  };
  const auto half = [](const Tensor& x) { return cast(x, DType::f64) * 0.5; };
  CHECK(of_words([&](const Tensor& x) -> Tensors { return {half(x)}; }) == 0);
  CHECK(of_words([&](const Tensor& x) -> Tensors { return {half(x), x}; }) == 1);
  CHECK(of_words([&](const Tensor& x) -> Tensors { return {half(x), slice(x, 0, 0, 4)}; }) == 1);
  CHECK(of_words([&](const Tensor& x) -> Tensors { return {argmax(x, 0)}; }) == 1);
  CHECK(of_words([&](const Tensor& x) -> Tensors { return {cumulative_sum(x, 0)}; }) == 1);
  CHECK(of_words([&](const Tensor& x) -> Tensors { return {sum(x, Axes{0})}; }) == 1);
  CHECK(of_words([&](const Tensor& x) -> Tensors { return {sum(half(x), Axes{0})}; }) == 0);
  CHECK(of_words([&](const Tensor& x) -> Tensors {
          return {half(x), half(x) + cast(x + x, DType::f64)};
        }) == 0);
  // A function behind which they are needed draws nothing itself.
  const core::MapPtr map = core::pointwise(
      "half", n, [](double t) { return 0.5 * t; }, [](double) { return 0.5; });
  const Function across = [&](const Tensors& in) -> Tensors {
    const Tensor words = random_bits(in[0], {n}), halves = external(map, in[1]);
    return {half(words) + halves};
  };
  CHECK(n_arrays(across, {key[0], full({n}, 0.5, DType::f64).eval()}) == 0);
}

TEST_CASE("random loads: one launch makes its words, several read an array", "[engine]") {
  const auto f = [](bool is_twice) -> Function {
    return [is_twice](const Tensors& in) -> Tensors {
      const Tensor words = cast(random_bits(in[0], {n, n}), DType::f64) * 0x1p-32;
      const Tensor product = matmul(words, in[1]);
      return {is_twice ? product + cast(shift_right(random_bits(in[0], {n, n}), 3), DType::f64) : product};
    };
  };
  const Tensors in{key_at(0), tests::drawn({n, n}, 3)};
  CHECK(n_arrays(f(false), in) == 0);
  CHECK(n_arrays(f(true), in) == 1);
}

TEST_CASE("random loads: clusters in front of kernels and behind them draw", "[engine]") {
  const auto noise = [](const Tensor& key) { return random_uniform(key, {16, 128, 64}, DType::f64); };
  const Function behind = [&](const Tensors& in) -> Tensors {
    return {(noise(in[0]) - 0.5) * matmul(in[1], in[2])};  // the key stands before the product
  };
  const Function before = [&](const Tensors& in) -> Tensors { return {matmul(in[1] * noise(in[0]), in[2])}; };
  const Tensors in{key_at(2), tests::drawn({16, 128, 64}, 1), tests::drawn({16, 64, 64}, 2)};
  for (const Function& f : {behind, before}) {
    for (const int n_threads : {1, 2, 3}) {
      const Threads scope(n_threads);
      const auto plan = plan_of(f, in, Level::O1);
      CHECK(same_bits(plan->run(in), f(in)));
      CHECK(plan->n_launches() == 1);
    }
  }
}

TEST_CASE("random loads: rows draw for each place and for each row", "[engine]") {
  const Function rows = [](const Tensors& in) -> Tensors {
    const Tensor x = in[0] * random_uniform(in[1], {n, 30}, DType::f64);
    const Tensor total = sum(x, Axes{1}, Keep::yes) * random_uniform(advance(in[1], 1), {n, 1}, DType::f64);
    return {x / total};
  };
  const Tensors in{tests::drawn({n, 30}, 2), key_at(3)};
  CHECK(n_arrays(rows, in) == 0);
  tests::TestJit jit;
  for (const int n_threads : {1, 2, 3}) {
    const Threads scope(n_threads);
    CHECK(same_bits(plan_of(rows, in, Level::O1)->run(in), rows(in)));
    CHECK(same_bits(plan_of(rows, in, Level::O1, *jit)->run(in), rows(in)));
  }
  const auto plan = plan_of(rows, in, Level::O1);
  CHECK(std::ranges::count(plan->running().instructions(), &fused_op(), &Instruction::op) == 1);
}

TEST_CASE("random loads: keys of a batch give a stream per item", "[engine]") {
  const Tensors in{tests::drawn({7, n}, 2), keys_of(7)};
  const Function dropout = [](const Tensors& of) -> Tensors { return {dropped(of[0], of[1])}; };
  const auto plan = plan_of(vmap(dropout), in, Level::O1);
  CHECK(n_arrays(*plan) == 0);
  CHECK(work_of(*plan) == Work{1, 7 * key_bytes + 2 * 7 * 8 * n});
  Tensors items;
  for (Dim i = 0; i < 7; ++i)
    items.push_back(dropped(squeeze(slice(in[0], 0, i, i + 1), 0), squeeze(slice(in[1], 0, i, i + 1), 0)));
  const Tensors right{stack(items, 0)};
  CHECK(same_bits(vmap(dropout)(in), right));
  tests::TestJit jit;
  for (const int n_threads : {1, 2, 3}) {
    const Threads scope(n_threads);
    CHECK(same_bits(plan_of(vmap(dropout), in, Level::O1)->run(in), right));
    CHECK(same_bits(plan_of(vmap(dropout), in, Level::O1, *jit)->run(in), right));
  }
  const Function normal = [](const Tensors& of) -> Tensors { return {random_normal(of[0], {5, 3})}; };
  CHECK(n_arrays(vmap(normal), {keys_of(40)}) == 0);
  CHECK(n_arrays(normal, {transpose(transpose(keys_of(40)).eval())}) == 0);  // a key does not lie in a row
  CHECK(n_arrays(normal, {reshape(keys_of(6), {2, 3, 3})}) == 0);
  CHECK(n_arrays([](const Tensors& of) -> Tensors { return {random_uniform(of[0], {})}; }, {keys_of(100)}) ==
        0);
  // Steps of two words: each key has whole ones, or one of them would lie across two keys.
  const auto pairs = [](Dim per_key) -> Function {
    return [per_key](const Tensors& of) -> Tensors {
      const Tensor words = random_bits(of[0], {per_key});
      return {cast(slice(reshape(words, {per_key, 2}), 1, 1, 2), DType::f64)};
    };
  };
  CHECK(n_arrays(pairs(4), {keys_of(2)}) == 0);
  CHECK(n_arrays(pairs(3), {keys_of(2)}) == 1);
}

TEST_CASE("random loads: a key lives no longer where that would raise the peak", "[engine]") {
  constexpr Dim m = 40;
  const auto f = [](Dim count) -> Function {
    return [count](const Tensors& in) -> Tensors {
      const Tensor words = random_bits(advance(in[0], 1), {count});
      const Tensor large = matmul(matmul(in[1], in[1]), in[1]);
      return {cast(words, DType::f64) * sum(large)};
    };
  };
  const Tensors in{key_at(0), tests::drawn({m, m}, 3)};
  CHECK(n_arrays(f(5), in) == 1);  // 20 bytes of words, 24 of the key
  CHECK(n_arrays(f(6), in) == 0);
  const Function given = [](const Tensors& at) -> Tensors {
    return {cast(random_bits(at[0], {1}), DType::f64) * sum(matmul(matmul(at[1], at[1]), at[1]))};
  };
  CHECK(n_arrays(given, in) == 0);  // that of the caller lives anyway
}

TEST_CASE("random loads: the array is not in the block, and a dry run says so", "[engine]") {
  constexpr Dim many = 100000;
  const Function noisy = [](const Tensors& in) -> Tensors {
    return {sqrt(in[0] + random_uniform(in[1], {many}, DType::f64))};
  };
  const Tensors in{full({many}, 0.5, DType::f64).eval(), key_at(0)};
  const auto recorded = plan_of(noisy, in), plan = plan_of(noisy, in, Level::O1);
  CHECK(recorded->block_bytes() > 8 * many);
  CHECK(plan->most_alive_bytes() < 40000);  // tiles
  CHECK(same_bits(plan->run(in), noisy(in)));
  const DryRun announced = dry_run(noisy, avals_of(in), {.times = Times::none});
  CHECK(announced.n_launches == 1);
  CHECK(announced.peak.block == Arena::taken_by(plan->block_bytes()));
  const auto work = [&](Level level) {
    double flops = 0.0;
    for (const OpProfile& each : dry_run(noisy, avals_of(in), {.level = level, .times = Times::none}).ops)
      flops += each.flops;
    return flops;
  };
  CHECK(work(Level::O1) == work(Level::O0));  // a word counts as much as before
}

TEST_CASE("random loads: dropout keeps its bits in gradients, loops, batches of any size and on a budget",
          "[engine]") {
  const Function loss = [](const Tensors& in) -> Tensors {
    Tensor x = in[0], key = in[2];
    for (int i = 0; i < 6; ++i) {
      x = dropped(tanh(matmul(x, in[1])), key);
      key = advance(key, x.count());
    }
    return {sum(square(x))};
  };
  const Function slopes = [&](const Tensors& in) -> Tensors {
    return value_and_grad(
               [&](const Tensors& at) {
                 return loss({at[0], at[1], in[2]});
               },
               {in[0], in[1]})
        .gradients;
  };
  const Tensors in{tests::drawn({30, 20}, 1), tests::drawn({20, 20}, 2), key_at(1)};
  const Tensors right = slopes(in);
  CHECK(n_arrays(slopes, in) == 0);
  const Compiled all = compile(slopes);
  CHECK(same_bits(all(in), right));
  const Compiled within = compile(slopes, {.budget = all.stats().block_bytes * 8 / 10});
  CHECK(same_bits(within(in), right));
  CHECK(within.stats().block_bytes <= all.stats().block_bytes * 8 / 10);
  const Compiled of_any_size =
      compile(slopes, {.breaks = Breaks::refused, .symbolic = {{.input = 0, .bound = 64}}});
  for (const Dim count : {30, 11, 64, 2, 47, 33}) {
    INFO(count);
    const Tensors some{tests::drawn({count, 20}, 3), in[1], in[2]};
    CHECK(same_bits(of_any_size(some), slopes(some)));
  }
  CHECK(of_any_size.stats().n_resized == 5);
  const Function second_half = [](const Tensors& at) -> Tensors {
    const Dim count = at[0].dim(0);
    return {at[0] * cast(slice(random_bits(at[1], {2 * count}), 0, count, 2 * count), DType::f64)};
  };
  const Compiled halves =
      compile(second_half, {.breaks = Breaks::refused, .symbolic = {{.input = 0, .bound = 64}}});
  for (const Dim count : {30, 11, 64, 2, 47, 33}) {
    INFO(count);
    CHECK(same_bits(halves({vector_of(count), in[2]}), second_half({vector_of(count), in[2]})));
  }
  CHECK(halves.stats().n_resized == 5);
  const Function walk = [](const Tensors& at) -> Tensors {
    const auto step = [](const Tensors& carry, const Tensors&) -> Tensors {
      return {carry[0] + random_normal(carry[1], {n}, DType::f64), advance(carry[1], 2 * n)};
    };
    return scan(step, {at[0], at[1]}, {zeros({5})}).carry;
  };
  CHECK(same_bits(compile(walk)({vector_of(n), in[2]}), walk({vector_of(n), in[2]})));
}

TEST_CASE("random loads: a dump has what leaves a cluster, with the bits of level 0", "[engine]") {
  const Function f = [](const Tensors& in) -> Tensors {
    const Tensor u = random_uniform(in[0], {n}, DType::f64), words = random_bits(in[0], {n});
    return {cumulative_sum(u * 2.0, 0), sum(u, Axes{0}), words};
  };
  const auto dumped = [&](Level level) {
    core::MemoryArrays arrays;
    dump(f, {key_at(3)}, arrays, {.level = level});
    return dumped_values(arrays);
  };
  const std::vector<DumpedValue> all = dumped(Level::O0), kept = dumped(Level::O1);
  const auto n_draws = [](const std::vector<DumpedValue>& values) {
    return std::ranges::count(values, "random_bits", &DumpedValue::op);
  };
  CHECK(n_draws(all) == 2);
  CHECK(n_draws(kept) == 1);
  for (const DumpedValue& each : kept) {
    const auto same = std::ranges::find(all, each.value, &DumpedValue::value);
    REQUIRE(same != all.end());
    CHECK(same->statistics.checksum == each.statistics.checksum);
  }
}

TEST_CASE("random loads: another word, step, lane or key is found", "[engine]") {
  const Function f = [](const Tensors& in) -> Tensors { return {random_normal(in[0], {n})}; };
  const Tensors in{keys_of(2)};
  const std::vector<Strides> strides = tests::strides_of(in);
  const Program program =
      *at_stage(Program::of(Trace::without_values(f, avals_of(in), std::source_location::current())), strides,
                Level::O1, Stage::merged);
  const Tensors right = f(in);
  REQUIRE(program.instructions().size() == 1);
  const auto is_right = [&](const std::function<void(Expr&)>& change) {
    ProgramParts parts = program.parts();
    AttrsPtr& attrs = parts.instructions[0].attrs;
    Expr expr = attrs_as<TileAttrs>(*attrs).programs[0]->expr();
    REQUIRE(expr.words.size() == 2);
    change(expr);
    attrs = make_attrs(TileAttrs{{std::make_shared<const cpu_backend::TileProgram>(std::move(expr))}});
    return same_bits(Plan(Program(parts), strides).run(in), right);
  };
  CHECK(is_right([](Expr&) {}));
  CHECK_FALSE(is_right([](Expr& expr) { expr.words[0].first = 0; }));
  CHECK_FALSE(is_right([](Expr& expr) { expr.words[1].first = 2; }));
  CHECK_FALSE(is_right([](Expr& expr) { expr.words[0].step = expr.words[1].step = 1; }));
  CHECK_FALSE(is_right([](Expr& expr) { std::swap(expr.words[0].first, expr.words[1].first); }));
  CHECK_FALSE(is_right([](Expr& expr) { expr.words[0].per_key = expr.words[1].per_key = n; }));
  const Expr& expr = attrs_as<TileAttrs>(*program.instructions()[0].attrs).programs[0]->expr();
  CHECK(expr.text().find("= words 1 + 2 i of operand 0; ") != std::string::npos);
  Expr other = expr;
  other.words[0].first = 4;
  CHECK_FALSE(other == expr);
  CHECK(other.hash() != expr.hash());
}

TEST_CASE("random loads: a cluster that sees the same words twice has them at both places", "[engine]") {
  const Tensors in{random_key(3).eval(), vector_of(8)};
  const auto f_of_bits = [](const Tensors& x) -> Tensors {
    const Tensor words = random_bits(x[0], {2, 4}, DType::u64);
    const Tensor flat = cast(reshape(words, {8}), DType::f64), twice = cast(words, DType::f64) * 2.0;
    return {sin(flat) * x[1] + exp(reshape(twice, {8}) * 1e-19)};
  };
  const auto f_of_draws = [](const Tensors& x) -> Tensors {
    const Tensor one = random_uniform(x[0], {8}, DType::f64),
                 other = random_uniform(x[0], {2, 4}, DType::f64);
    return {one * x[1] + exp(reshape(other, {8}))};
  };
  for (const Function& f : {Function(f_of_bits), Function(f_of_draws)}) {
    for (const Level level : {Level::O0, Level::O1})
      CHECK(same_bits(tests::plan_of(f, in, level)->run(in), f(in)));
  }
}
