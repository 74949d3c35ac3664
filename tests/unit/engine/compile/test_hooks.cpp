// SPDX-License-Identifier: Apache-2.0
// Kernels that run with the elementwise ops before and behind them.
#include "engine/compile/hooked_kernel.hpp"
#include "engine/compile/hooks.hpp"
#include "engine/compile/passes.hpp"
#include "engine/core/map_algebra.hpp"
#include "engine/ops/ops.hpp"
#include "engine/program/rebuilt.hpp"
#include "engine/transform/external.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/compile/random_programs.hpp"
#include "tests/unit/engine/compile/work_of.hpp"
#include "tests/unit/engine/jit_of_tests.hpp"
#include "tests/unit/engine/sample_networks.hpp"

using namespace lodestone;
using namespace lodestone::engine;
using tests::drawn;
using tests::error_of;
using tests::HasId;
using tests::plan_of;
using tests::same_bits;
using tests::Threads;
using tests::Work;
using tests::work_of;

namespace {

constexpr Dim n = 24, m = 10, k = 6;
constexpr std::size_t bytes = 8 * n * m;  // of a product in f64

Tensor left() { return drawn({n, k}, 1); }
Tensor right() { return drawn({k, m}, 2); }
Tensor full(std::uint64_t seed = 3) { return drawn({n, m}, seed); }
Tensor bias() { return drawn({m}, 4); }

Tensor gelu(const Tensor& z) { return 0.5 * z * (1.0 + erf(z * 0.70710678118654752)); }

/// Returns the launches of f of a product and other arrays.
std::int64_t launches_behind(const std::function<Tensors(const Tensor&, const Tensors&)>& f,
                             Tensors others = {}) {
  others.insert(others.begin(), {left(), right()});
  return work_of(
             [&](const Tensors& in) {
               return f(matmul(in[0], in[1]), {in.begin() + 2, in.end()});
             },
             others)
      .n_launches;
}

Program recorded(const Function& f, const Tensors& inputs) {
  return Program::of(Trace::without_values(f, avals_of(inputs), std::source_location::current()));
}

/// Returns a program after the passes of O1 before that which hooks.
Program merged(const Program& program, const Tensors& inputs) {
  return *at_stage(program, tests::strides_of(inputs), Level::O1, Stage::merged);
}

/// Returns a plan with hooks whatever the size of arrays.
Plan plan_of_any_size(const Program& program, const Tensors& inputs) {
  const std::vector<Strides> strides = tests::strides_of(inputs);
  return Plan(hooked(merged(program, inputs), strides, {.least_bytes = 0}), strides);
}
Work work_of_any_size(const Function& f, const Tensors& inputs) {
  const Plan plan = plan_of_any_size(recorded(f, inputs), inputs);
  CHECK(same_bits(plan.run(inputs), f(inputs)));
  return work_of(plan);
}

/// Returns the bytes of what lives at the fullest launch.
std::size_t peak(const Program& program, const Tensors& inputs) {
  std::size_t result = 0;
  for (const Block& each : lowered(program, tests::strides_of(inputs)).blocks) result += each.most_alive;
  return result;
}

}  // namespace

TEST_CASE("hooks: named fusions are one launch, with the fewest bytes there can be", "[engine]") {
  constexpr std::size_t of_product = 8 * (n * k + k * m) + bytes;
  const auto dense = [](const Tensors& in) -> Tensors { return {gelu(matmul(in[0], in[1]) + in[2])}; };
  CHECK(work_of(dense, {left(), right(), bias()}) == Work{1, of_product + 8 * m});
  const auto residual = [](const Tensors& in) -> Tensors { return {in[2] + matmul(in[0], in[1])}; };
  CHECK(work_of(residual, {left(), right(), full()}) == Work{1, of_product + bytes});
  const auto stack_and_add = [](const Tensors& in) -> Tensors { return {matmul(in[0], in[1]) + in[2]}; };
  const Tensor a = drawn({3, n, k}), b = drawn({3, k, m}, 2), c = drawn({3, n, m}, 3);
  CHECK(work_of(stack_and_add, {a, b, c}) == Work{1, 3 * (of_product + bytes)});
  const auto scores = [](const Tensors& in) -> Tensors {
    const Tensor s = matmul(in[0], in[1]) * 0.5, e = exp(s - max(s, Axes{-1}, Keep::yes));
    return {e / sum(e, Axes{-1}, Keep::yes)};
  };
  CHECK(work_of(scores, {a, b}) == Work{1, 3 * of_product});
  const auto layer_norm = [](const Tensors& in) -> Tensors {
    return {scale_shift(normalize(in[0], Axes{1}), in[1], in[1])};
  };
  CHECK(work_of_any_size(layer_norm, {full(), bias()}) == Work{1, 2 * bytes + 8 * m});
}

TEST_CASE("hooks: convolutions and batch norms with what takes their results are one launch", "[engine]") {
  const Tensor x = drawn({4, 20, 6}), w = drawn({3, 6, 8}, 2), b = drawn({8}, 3);
  const std::size_t in = x.aval().bytes() + w.aval().bytes() + b.aval().bytes(), out = 8 * 4 * 20 * 8;
  const auto activated = [](const Tensors& of) -> Tensors {
    return {swish(engine::conv(of[0], of[1], {.low = {1}, .high = {1}}) + of[2])};
  };
  CHECK(work_of(activated, {x, w, b}) == Work{1, in + out});
  const auto transposed = [](const Tensors& of) -> Tensors {
    return {engine::tanh(
        engine::conv_transpose(of[0], of[1], {40}, {.stride = {2}, .low = {1}, .high = {1}}) + of[2])};
  };
  const Tensor y = drawn({4, 20, 8}), of_6 = drawn({6}, 3), of_4 = drawn({4, 6, 8}, 5);
  CHECK(work_of(transposed, {y, of_4, of_6}) ==
        Work{1, y.aval().bytes() + of_4.aval().bytes() + 8 * 6 + 8 * 4 * 40 * 6});
  const auto normed = [](const Tensors& of) -> Tensors {
    const auto [value, mean, variance] = batch_norm(of[0], of[1], of[2]);
    return {swish(value), mean, variance};
  };
  const Tensor channels = drawn({6}, 4);
  CHECK(work_of_any_size(normed, {x, channels, channels}) == Work{1, 2 * x.aval().bytes() + 4 * 8 * 6});
}

TEST_CASE("hooks: behind a kernel, four other operands and one elementary function", "[engine]") {
  const auto sum_of = [](const Tensor& p, const Tensors& in) -> Tensors {
    Tensor total = p;
    for (const Tensor& each : in) total = total + each;
    return {total};
  };
  CHECK(launches_behind(sum_of, {full(), bias(), drawn({n, 1}, 5), drawn({}, 6)}) == 1);
  CHECK(launches_behind(sum_of, {full(), bias(), drawn({n, 1}, 5), drawn({}, 6), full(7)}) == 2);
  CHECK(launches_behind([](const Tensor& p, const Tensors&) -> Tensors { return {exp(p) * 2.0}; }) == 1);
  CHECK(launches_behind([](const Tensor& p, const Tensors&) -> Tensors { return {exp(sin(p))}; }) == 2);
}

TEST_CASE("hooks: what takes a result takes every element at its place", "[engine]") {
  const auto f = [](const auto& g) {
    return [g](const Tensor& p, const Tensors&) -> Tensors { return {g(p)}; };
  };
  CHECK(launches_behind(f([](const Tensor& p) { return reshape(p, {m, n}) * 2.0; })) == 1);
  CHECK(launches_behind(f([](const Tensor& p) { return transpose(p) * 2.0; })) == 2);
  CHECK(launches_behind(f([](const Tensor& p) { return slice(p, 0, 0, n - 1) * 2.0; })) == 2);
  CHECK(launches_behind(f([](const Tensor& p) { return p + transpose(reshape(p, {m, n})); })) == 2);
  CHECK(launches_behind(f([](const Tensor& p) {
          return broadcast_to(reshape(p, {1, n, m}), {2, n, m}) *
                 broadcast_to(reshape(p, {1, n, m}), {2, n, m});
        })) == 2);
  // Rows that are combined are rows of the result, or parts of such.
  const auto softmax_by = [&](const Shape& shape) {
    return f([shape](const Tensor& p) {
      const Tensor s = reshape(p, shape), e = exp(s - max(s, Axes{1}, Keep::yes));
      return e / sum(e, Axes{1}, Keep::yes);
    });
  };
  CHECK(launches_behind(softmax_by({n, m})) == 1);
  CHECK(launches_behind(softmax_by({2 * n, m / 2})) == 1);
  CHECK(launches_behind(softmax_by({n / 2, 2 * m})) == 2);
}

TEST_CASE("hooks: a result that others need is kept", "[engine]") {
  const auto work = [](const auto& g) {
    return work_of([&](const Tensors& in) -> Tensors { return g(matmul(in[0], in[1])); }, {left(), right()});
  };
  constexpr std::size_t of_product = 8 * (n * k + k * m) + bytes;
  const auto alone = work([](const Tensor& p) -> Tensors { return {exp(p)}; });
  CHECK(alone == Work{1, of_product});
  const auto given = work([](const Tensor& p) -> Tensors { return {exp(p), p}; });
  CHECK(given == Work{1, of_product + bytes});
  const auto used = work([](const Tensor& p) -> Tensors { return {exp(p), sum(transpose(p), Axes{1})}; });
  CHECK(used == Work{2, of_product + bytes + bytes + 8 * m});
  const auto as_look = work([](const Tensor& p) -> Tensors { return {exp(p), reshape(p, {m, n})}; });
  CHECK(as_look == Work{1, of_product + bytes});
  // A result of other bytes leaves no room for that of the kernel.
  const auto narrow = work([](const Tensor& p) -> Tensors { return {greater(p, 0.0)}; });
  CHECK(narrow == Work{1, of_product - bytes + bytes / 8});
}

TEST_CASE("hooks: no path leaves a launch and comes back, functions stand between", "[engine]") {
  const auto f = [](const auto& g) {
    return [g](const Tensor& p, const Tensors&) -> Tensors { return {g(p)}; };
  };
  CHECK(launches_behind(f([](const Tensor& p) { return p * sum(p, Axes{0}); })) == 3);
  CHECK(launches_behind(f([](const Tensor& p) { return p * slice(matmul(transpose(p), p), 0, 0, 1); })) == 3);
  // An op behind one product may be before another, but not behind both.
  const auto two = [](const Tensors& in) -> Tensors {
    return {matmul(in[0], in[1]) + matmul(in[0] * 2.0, in[1])};
  };
  CHECK(work_of_any_size(two, {drawn({3, n, k}), drawn({3, k, m}, 2)}).n_launches == 2);
  const auto chain = [](const Tensors& in) -> Tensors {
    return {matmul(engine::tanh(matmul(in[0], in[1])), in[2]) + 1.0};
  };
  CHECK(work_of(chain, {left(), right(), drawn({m, 4}, 3)}).n_launches == 2);
  // An op behind a product takes nothing else that the launch makes.
  const auto around = [](const Tensors& in) -> Tensors {
    const Tensor e = exp(in[0]);
    return {matmul(e * 2.0, in[1]) + e};
  };
  CHECK(work_of_any_size(around, {drawn({3, n, n}), drawn({3, n, n}, 2)}).n_launches == 2);
  const Tensor x = (ones({n, k}, DType::f64) * 0.5).eval();
  const core::MapPtr map = core::pointwise(
      "same", n * k, [](double t) { return t; }, [](double) { return 1.0; });
  const auto with = [&](bool has_effect) {
    return [&map, has_effect](const Tensors& in) -> Tensors {
      const Tensor p = matmul(in[0], in[1]);
      if (has_effect) static_cast<void>(external(map, reshape(in[0], {n * k})));
      return {exp(p)};
    };
  };
  CHECK(work_of(with(false), {x, right()}).n_launches == 1);
  CHECK(work_of(with(true), {x, right()}).n_launches == 2);
}

TEST_CASE("hooks: before a kernel stands what nobody else needs, in the order in which it is read",
          "[engine]") {
  constexpr std::size_t of_product = 3 * (8 * (n * k + k * m) + bytes);
  const auto work = [](const auto& g) {
    return work_of_any_size([&](const Tensors& in) -> Tensors { return g(in[0], in[1]); },
                            {drawn({3, n, k}), drawn({3, k, m}, 2)});
  };
  CHECK(work([](const Tensor& a, const Tensor& b) -> Tensors { return {matmul(exp(a), b)}; }) ==
        Work{1, of_product});
  CHECK(work([](const Tensor& a, const Tensor& b) -> Tensors {
          return {matmul(exp(sin(a) + 1.0), b) * 2.0};
        }) == Work{1, of_product});
  const auto needed = work([](const Tensor& a, const Tensor& b) -> Tensors {
    const Tensor e = exp(a);
    return {matmul(e, b), e};
  });
  CHECK(needed.n_launches == 2);
  const auto beside = work([](const Tensor& a, const Tensor& b) -> Tensors {
    const Tensor e = exp(a);
    return {matmul(e * 2.0, b), e};
  });
  CHECK(beside == Work{1, of_product + 3 * 8 * n * k});
  CHECK(work([](const Tensor& a, const Tensor& b) -> Tensors { return {matmul(a, exp(b))}; }).n_launches ==
        2);
  const auto by_columns = [](const Tensors& in) -> Tensors {
    return {dot_general(exp(in[0]), in[1], {{1}, {1}, {0}, {0}})};
  };
  CHECK(work_of_any_size(by_columns, {drawn({3, k, n}), drawn({3, k, m}, 2)}).n_launches == 2);
  CHECK(work([](const Tensor& a, const Tensor&) -> Tensors {
          const Tensor e = exp(a);
          return {matmul(e, transpose(e, Axes{0, 2, 1}))};
        }).n_launches == 2);
  CHECK(work([](const Tensor& a, const Tensor& b) -> Tensors {
          return {matmul(softmax(a) * 2.0, b)};
        }).n_launches == 2);
  const auto by_groups = [](int groups) {
    return [groups](const Tensors& in) -> Tensors {
      return {engine::conv(exp(in[0]), in[1], {.groups = groups})};
    };
  };
  CHECK(work_of_any_size(by_groups(1), {drawn({4, 20, 6}), drawn({3, 6, 8}, 2)}).n_launches == 1);
  CHECK(work_of_any_size(by_groups(2), {drawn({4, 20, 6}), drawn({3, 3, 8}, 2)}).n_launches == 2);
}

TEST_CASE("hooks: norms, and what is before a kernel, run with it from 1 MiB on", "[engine]") {
  const auto scaled = [](const Tensors& in) -> Tensors { return {normalize(in[0], Axes{2}) * 2.0}; };
  const auto before = [](const Tensors& in) -> Tensors { return {matmul(in[0] * 2.0, in[1])}; };
  const auto behind = [](const Tensors& in) -> Tensors { return {matmul(in[0], in[1]) * 2.0}; };
  const Tensor large = drawn({16, 128, 64}), less = drawn({16, 127, 64}), w = drawn({16, 64, 64}, 2);
  CHECK(work_of(scaled, {large}).n_launches == 1);
  CHECK(work_of(scaled, {less}).n_launches == 2);
  CHECK(work_of(before, {large, w}).n_launches == 1);
  CHECK(work_of(before, {less, w}).n_launches == 2);
  CHECK(work_of(behind, {less, w}).n_launches == 1);
}

TEST_CASE("hooks: kernels in pieces and on threads give the bits of eager runs", "[engine]") {
  const std::vector<std::pair<std::string, Function>> cases{
      {"dense",
       [](const Tensors& in) -> Tensors {
         return {gelu(matmul(in[0], in[1]) + in[2]), matmul(in[0], in[1])};
       }},
      {"rows",
       [](const Tensors& in) -> Tensors {
         const Tensor s = matmul(in[0] * 0.5, in[1]), e = exp(s - max(s, Axes{-1}, Keep::yes));
         return {e / sum(e, Axes{-1}, Keep::yes)};
       }},
      {"made rows", [](const Tensors& in) -> Tensors {
         const Tensor e = in[0] * in[0], r = e / sum(e, Axes{-1}, Keep::yes);
         return {cast(matmul(r, in[1]) + in[2], DType::f32)};
       }}};
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensors flat{drawn({700, 300}, 1, dtype), drawn({300, 400}, 2, dtype), drawn({400}, 3, dtype)};
    const Tensors stacked{drawn({5, 200, 120}, 1, dtype), drawn({5, 120, 90}, 2, dtype),
                          drawn({90}, 3, dtype)};
    for (const auto& [name, f] : cases) {
      for (const Tensors& in : {flat, stacked}) {
        const Tensors expected = f(in);
        eval(expected);
        for (const int n_threads : {1, 2, 3}) {
          INFO(name << " of " << in[0].aval().text() << " on " << n_threads << " threads");
          const Threads scope(n_threads);
          CHECK(same_bits(plan_of_any_size(recorded(f, in), in).run(in), expected));
        }
      }
    }
  }
}

TEST_CASE("hooks: convolutions and norms on threads give the bits of eager runs", "[engine]") {
  const auto net = [](int groups, Dim stride) {
    return [groups, stride](const Tensors& in) -> Tensors {
      const ConvOptions options{.stride = {stride, stride}, .low = {1, 1}, .high = {1, 1}, .groups = groups};
      const Tensor y = swish(engine::conv(in[0] * 0.5 + 1.0, in[1], options) + in[2]);
      const Tensor z = engine::tanh(engine::batch_norm(y, in[2], in[2]).y);
      return {scale_shift(normalize(z, Axes{3}), in[2], in[2]), normalize(y, Axes{0, 1, 2}) * 2.0};
    };
  };
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const auto& [groups, stride] : {std::pair{1, 1}, {1, 2}, {2, 1}}) {
      const Tensors in{drawn({9, 33, 30, 16}, 1, dtype), drawn({3, 3, 16 / groups, 24}, 2, dtype),
                       drawn({24}, 3, dtype)};
      const Function f = net(groups, stride);
      const Tensors expected = f(in);
      eval(expected);
      for (const int n_threads : {1, 2, 3}) {
        INFO(groups << " groups, stride " << stride << ", " << n_threads << " threads");
        const Threads scope(n_threads);
        CHECK(same_bits(plan_of_any_size(recorded(f, in), in).run(in), expected));
      }
    }
  }
}

namespace {

/// A function of products and other ops on square matrices, the same for each seed.
class RandomProducts {
 public:
  RandomProducts(DType dtype, std::uint64_t seed) : seed_(seed) {
    std::mt19937_64 random(seed);
    const Dim extent = seed % 20 == 0 ? 150 : 2 + static_cast<Dim>(random() % 7);
    shape_ = random() % 2 == 0 ? Shape{extent, extent} : Shape{2, extent, extent};
    for (std::uint64_t i = 0; i < 3; ++i) inputs_.push_back(drawn(shape_, seed + i, dtype));
    inputs_.push_back(drawn({extent}, seed + 4, dtype));
  }
  [[nodiscard]] const Tensors& inputs() const { return inputs_; }
  [[nodiscard]] Tensors outputs(const Tensors& in) const {
    std::mt19937_64 random(seed_ + 1);
    Tensors pool(in.begin(), in.end() - 1);
    for (std::uint64_t i = 0; i < 4 + random() % 12; ++i) pool.push_back(step(pool, in.back(), random));
    Tensors result{pool.back()};
    for (std::uint64_t i = 0; i < random() % 3; ++i) result.push_back(pool[random() % pool.size()]);
    return result;
  }

 private:
  [[nodiscard]] Tensor step(const Tensors& pool, const Tensor& of_columns, std::mt19937_64& random) const {
    const Tensor& x = pool[random() % pool.size()];
    const Tensor& y = pool[random() % 2 == 0 ? pool.size() - 1 : random() % pool.size()];
    const int last = shape_.rank() - 1;
    switch (random() % 12) {
      case 0:
      case 1:
      case 2:
        return matmul(y, x);
      case 3:
        return matmul(y, transpose(x, last == 1 ? Axes{1, 0} : Axes{0, 2, 1}));
      case 4:
        return y + of_columns;
      case 5:
        return y / (sum(y, Axes{last}, Keep::yes) + 3.0);
      case 6:
        return reshape(engine::tanh(reshape(y, {shape_.count()})), shape_);
      case 7:
        return normalize(y, Axes{last});
      case 8:
        return softmax(y) * 0.5;
      case 9:
        return select(greater(y, x), y, x * 0.5);
      default:
        return y * 0.25 + x;
    }
  }
  std::uint64_t seed_;
  Shape shape_;
  Tensors inputs_;
};

/// Returns the one instruction with hooks.
std::uint32_t hooked_in(const Program& program) {
  const auto is_it = [](const Instruction& each) { return each.op == &hooked_kernel_op(); };
  REQUIRE(std::ranges::count_if(program.instructions(), is_it) == 1);
  return static_cast<std::uint32_t>(std::ranges::find_if(program.instructions(), is_it) -
                                    program.instructions().begin());
}

}  // namespace

TEST_CASE("hooks: random programs of products give the bits of eager runs on 1, 2 and 3 threads",
          "[engine]") {
  std::int64_t n_fewer = 0;
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      INFO(core::name_of(dtype) << ", seed " << seed);
      const RandomProducts random(dtype, seed);
      const Function f = [&](const Tensors& in) { return random.outputs(in); };
      const Tensors expected = f(random.inputs());
      eval(expected);
      const Program program = recorded(f, random.inputs());
      n_fewer += std::ssize(merged(program, random.inputs()).instructions());
      for (const int n_threads : {1, 2, 3}) {
        const Threads scope(n_threads);
        const Plan plan = plan_of_any_size(program, random.inputs());
        REQUIRE(same_bits(plan.run(random.inputs()), expected));
        if (n_threads == 1) n_fewer -= std::ssize(plan.running().instructions());
      }
    }
  }
  CHECK(n_fewer > 700);
}

TEST_CASE("hooks: networks have fewer launches, and no more memory", "[engine]") {
  const auto small_peak = static_cast<std::size_t>(HookLimits().small_peak);
  std::int64_t n_before = 0, n_after = 0;
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const tests::SampleNetwork& network : tests::SampleNetworks(dtype).all()) {
      INFO(network.name);
      const auto strides = tests::strides_of(network.inputs);
      const Program program = merged(recorded(network.f, network.inputs), network.inputs),
                    with = hooked(program, strides);
      n_before += std::ssize(lowered(program, strides).launches);
      n_after += std::ssize(lowered(with, strides).launches);
      CHECK(peak(with, network.inputs) <= std::max(peak(program, network.inputs), small_peak));
    }
  }
  CHECK(n_after < n_before);
}

TEST_CASE("hooks: a lost user and operands in another order are found", "[engine]") {
  const Function f = [](const Tensors& in) -> Tensors {
    const Tensor p = matmul(in[0], in[1]);
    return {p * in[2] - in[3], p};
  };
  const Tensors in{left(), right(), full(3), full(5)};
  const Tensors expected = f(in);
  const Program program = hooked(merged(recorded(f, in), in), tests::strides_of(in), {.least_bytes = 0});
  const std::uint32_t number = hooked_in(program);
  const auto run = [&](const ProgramParts& parts) {
    return Plan(Program(parts), tests::strides_of(in)).run(in);
  };
  CHECK(same_bits(run(program.parts()), expected));
  ProgramParts lost = program.parts();
  HookedAttrs attrs = attrs_as<HookedAttrs>(*lost.instructions[number].attrs);
  attrs.hooks.keeps = false;
  lost.instructions[number].attrs = make_attrs(std::move(attrs));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(Program(lost)); }),
             HasId("wrong_results"));
  const auto turned = [&](std::uint32_t first) {
    ProgramParts parts = program.parts();
    const std::uint32_t at = parts.instructions[number].first_operand + first;
    std::swap(parts.operands[at], parts.operands[at + 1]);
    return parts;
  };
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(Program(turned(0))); }),
             HasId("refused_by_row"));
  CHECK_FALSE(same_bits(run(turned(2)), expected));
}

TEST_CASE("hooks: with functions made of text the bits stay", "[engine]") {
  tests::TestJit jit;
  const Function f = [](const Tensors& in) -> Tensors {
    const Tensor z = matmul(in[0], in[1]) + in[2];
    return {gelu(z), z};
  };
  const Tensors in{left(), right(), bias()};
  const auto plan = plan_of(f, in, Level::O1, *jit);
  CHECK(plan->n_by_text() == 1);
  CHECK(same_bits(plan->run(in), f(in)));
}
