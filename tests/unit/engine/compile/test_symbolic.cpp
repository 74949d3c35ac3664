// SPDX-License-Identifier: Apache-2.0
// One plan for all extents of a batch: its bits, its memory, and what keeps a shape static.
#include "engine/compile/compile.hpp"
#include "engine/compile/symbolic.hpp"
#include "engine/core/parallel.hpp"
#include "engine/memory/arena.hpp"
#include "engine/nn/activation.hpp"
#include "engine/nn/linear.hpp"
#include "engine/nn/loss.hpp"
#include "engine/nn/normalization.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/ops.hpp"
#include "engine/optim/optimizer.hpp"
#include "engine/program/on_line.hpp"
#include "engine/record/feed.hpp"
#include "engine/transform/variables.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/compile/work_of.hpp"
#include "tests/unit/engine/row.hpp"
#include "tests/unit/engine/sample_networks.hpp"
#include "tests/unit/engine/train/waves.hpp"

using namespace lodestone;
using namespace lodestone::engine;
using tests::row;
using tests::same_bits;
using tests::SampleNetwork;

namespace {

CompileOptions batches_up_to(Dim bound, Level level = Level::O1) {
  return {.level = level, .breaks = Breaks::refused, .symbolic = {{.input = 0, .bound = bound}}};
}

Tensor drawn(const Shape& shape, std::uint64_t seed = 1, DType dtype = DType::f64) {
  return tests::normals(shape, seed, dtype).eval();
}

/// Returns arrays for a network with n items.
Tensors with_items(const Tensors& inputs, Dim n) {
  Tensors result = inputs;
  Shape shape = inputs[0].shape();
  shape[0] = n;
  result[0] = drawn(shape, static_cast<std::uint64_t>(n), inputs[0].dtype());
  return result;
}

std::size_t bytes_in_use() { return Arena::of(default_device()).stats().in_use; }

}  // namespace

TEST_CASE("symbolic: one plan serves all extents of a batch, with the bits of static plans", "[engine]") {
  int n_symbolic = 0;
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const SampleNetwork& network : tests::SampleNetworks(dtype).all()) {
      if (network.inputs[0].rank() < 2 || network.name.find("checkpointed") != std::string::npos) continue;
      ++n_symbolic;
      for (const Level level : {Level::O0, Level::O1}) {
        INFO(network.name << ", " << core::name_of(dtype) << ", O" << static_cast<int>(level));
        const Dim bound = network.inputs[0].shape()[0] + 7;
        const Compiled symbolic = compile(network.f, batches_up_to(bound, level));
        for (const Dim n : {bound, Dim{5}, Dim{2}, Dim{3}, bound - 1, bound, Dim{4}, Dim{3}}) {
          INFO("n = " << n);
          const Tensors inputs = with_items(network.inputs, n);
          CHECK(same_bits(symbolic(inputs), network.f(inputs)));
        }
        const CompileStats stats = symbolic.stats();
        REQUIRE_FALSE(stats.recompiles.empty());
        INFO(stats.recompiles[0].what);
        CHECK(stats.n_traces == 2);
        CHECK(stats.n_plans == 2);  // that of the first call, and the one whose memory all share
        CHECK(stats.n_resized == 6);
        CHECK(stats.n_hits == 1);
      }
    }
  }
  CHECK(n_symbolic >= 40);
}

TEST_CASE("symbolic: every extent, whatever its remainder by tiles and threads", "[engine]") {
  const Function f = [](const Tensors& in) -> Tensors {
    const Tensor y = tanh(matmul(in[0], in[1]));
    return {sum(y, Axes{0}), mean(square(y)), softmax(y), transpose(y) * 2.0};
  };
  const Tensor w = drawn({6, 19}, 3);
  for (const int n_threads : {1, 2, 3}) {
    const tests::Threads threads(n_threads);
    const Compiled symbolic = compile(f, batches_up_to(70));
    for (Dim n = 2; n <= 70; ++n) {
      INFO(n << " items, " << n_threads << " threads");
      const Tensors inputs{drawn({n, 6}, static_cast<std::uint64_t>(n)), w};
      CHECK(same_bits(symbolic(inputs), f(inputs)));
    }
    CHECK(symbolic.stats().n_traces == 2);
  }
}

TEST_CASE("symbolic: memory is that of the bound, however many extents there are", "[engine]") {
  const Function layers = [](const Tensors& in) -> Tensors {
    Tensor y = in[0];
    for (int i = 0; i < 3; ++i) y = tanh(matmul(y, in[1]));
    return {sum(y)};
  };
  const Tensor w = drawn({32, 32}, 1);
  const auto run = [&](const Compiled& compiled, Dim n) { static_cast<void>(compiled({drawn({n, 32}), w})); };
  const Compiled at_bound = compile(layers);
  run(at_bound, 1000);
  const Compiled symbolic = compile(layers, batches_up_to(1000));
  run(symbolic, 40);  // a plan of its own, before anything else is known
  run(symbolic, 50);
  const std::size_t before = bytes_in_use();
  CHECK(symbolic.stats().block_bytes == at_bound.stats().block_bytes);
  for (const Dim n : {1000, 999, 60, 2, 500}) run(symbolic, n);
  CHECK(bytes_in_use() <= before + 4096);
  CHECK(symbolic.stats().n_resized == 6);
  CHECK(symbolic.stats().block_bytes == at_bound.stats().block_bytes);
}

TEST_CASE("symbolic: one item, and more than the bound, are plans of their own", "[engine]") {
  const Function f = [](const Tensors& in) -> Tensors { return {sum(in[0] * in[1], Axes{0})}; };
  const Compiled compiled = compile(f, batches_up_to(8));
  const Tensor w = row({1, 2, 3});
  for (const Dim n : {8, 5, 1, 9, 4}) {
    const Tensors inputs{drawn({n, 3}), w};
    CHECK(same_bits(compiled(inputs), f(inputs)));
  }
  CHECK(compiled.stats().n_traces == 4);
  CHECK(compiled.stats().n_resized == 2);
}

TEST_CASE("symbolic: constants are computed for each extent by the ops that made them", "[engine]") {
  const Function f = [](const Tensors& in) -> Tensors {
    const Dim n = in[0].dim(0);
    const Tensor numbers = reshape(cast(iota(n), DType::f64), {n, 1}),
                 weights = 0.3 / full({n, 1}, n, DType::f64);
    return {in[0] * numbers / (n - 1), sum(in[0] * weights), in[0] * (zeros({n, 3}, DType::f64) + n)};
  };
  const Compiled compiled = compile(f, batches_up_to(64));
  for (const Dim n : {64, 10, 3, 49, 17}) CHECK(same_bits(compiled({drawn({n, 3})}), f({drawn({n, 3})})));
  REQUIRE_FALSE(compiled.stats().recompiles.empty());
  INFO(compiled.stats().recompiles[0].what);
  CHECK(compiled.stats().n_traces == 2);
  CHECK(compiled.stats().n_resized == 4);
}

TEST_CASE("symbolic: without a bound, the larger of two extents is one", "[engine]") {
  const Function f = [](const Tensors& in) -> Tensors { return {tanh(in[0]) * in[0].dim(0)}; };
  const Compiled compiled = compile(f, {.symbolic = {BatchAxis()}});
  for (const Dim n : {8, 5, 7, 8, 12, 11, 10})
    CHECK(same_bits(compiled({drawn({n, 3})}), f({drawn({n, 3})})));
  CHECK(compiled.stats().n_traces == 3);  // 8, 5 and 12, which is more than the bound of the first two
  CHECK(compiled.stats().n_resized == 6);
}

TEST_CASE("symbolic: what is no line keeps the shape static, and the recompilation names it", "[engine]") {
  const auto why = [](const Function& f) {
    const Compiled compiled = compile(f, batches_up_to(16));
    for (const Dim n : {16, 5, 7, 5}) {
      const Tensors inputs{drawn({n, 3}, static_cast<std::uint64_t>(n))};
      CHECK(same_bits(compiled(inputs), f(inputs)));
    }
    CHECK(compiled.stats().n_resized == 0);
    CHECK(compiled.stats().n_plans == 3);
    REQUIRE(compiled.stats().recompiles.size() == 2);
    for (const Recompile& each : compiled.stats().recompiles)
      CHECK_THAT(each.what,
                 Catch::Contains("extent of axis 0 was") && Catch::Contains("it stays static, since"));
    return compiled.stats().recompiles[0].what;
  };
  const auto squares = [](const Tensors& in) -> Tensors { return {mean(matmul(in[0], transpose(in[0])))}; };
  CHECK_THAT(why(squares), Catch::Contains("a constant f64[]"));
  const auto flat = [](const Tensors& in) -> Tensors {
    const Dim n = in[0].shape()[0];
    return {reshape(matmul(in[0], transpose(in[0])), {n * n}) * 2.0};
  };
  CHECK_THAT(why(flat), Catch::Contains("reshape") && Catch::Contains("[235]"));
  const auto fewer = [](const Tensors& in) -> Tensors {
    return {slice(in[0], 0, 0, 1) * (20.0 - in[0].dim(0))};
  };
  CHECK_THAT(why(fewer), Catch::Contains("a constant"));
  const auto by_size = [](const Tensors& in) -> Tensors {
    return {in[0].dim(0) > 6 ? in[0] * 2.0 : in[0] + 2.0};
  };
  CHECK_THAT(why(by_size), Catch::Contains("other ops"));
  const auto by_number = [](const Tensors& in) -> Tensors {
    const Dim n = in[0].dim(0);
    return {in[0] * fed([n] { return Number(n); }, DType::f64)};
  };
  CHECK_THAT(why(by_number), Catch::Contains("fed"));
}

TEST_CASE("symbolic: a third recording finds what two cannot tell", "[engine]") {
  const auto odd = [](const Tensors& in) -> Tensors {
    const Dim n = in[0].dim(0);
    return {in[0] * static_cast<double>(n == 16 || n == 5 ? n : 0)};
  };
  const Compiled compiled = compile(odd, batches_up_to(16));
  for (const Dim n : {16, 5, 7}) {
    const Tensors inputs{drawn({n, 3})};
    CHECK(same_bits(compiled(inputs), odd(inputs)));
  }
  CHECK(compiled.stats().n_resized == 0);
  CHECK_THAT(compiled.stats().recompiles[0].what, Catch::Contains("static"));
}

TEST_CASE("symbolic: what fails for an extent that nobody asked for keeps the shape static", "[engine]") {
  const auto small = [](const Tensors& in) -> Tensors {
    if (in[0].dim(0) == 16) throw std::runtime_error("a table that ends at 15");
    return {in[0] * 2.0};
  };
  const Compiled compiled = compile(small, batches_up_to(16));
  for (const Dim n : {4, 5, 7}) {
    const Tensors inputs{drawn({n, 3})};
    CHECK(same_bits(compiled(inputs), small(inputs)));
  }
  CHECK(compiled.stats().n_resized == 0);
  REQUIRE_FALSE(compiled.stats().recompiles.empty());
  CHECK_THAT(compiled.stats().recompiles[0].what,
             Catch::Contains("static") && Catch::Contains("a table that ends at 15"));
}

TEST_CASE("symbolic: each mode of a module has extents of its own", "[engine]") {
  InitialValues initial(1, DType::f64);
  const BatchNorm norm(3, initial);
  const Compiled compiled =
      compile([&](const Tensors& in) -> Tensors { return {norm(in[0])}; }, batches_up_to(16));
  const auto run = [&](Mode mode, Dim n) {
    norm.set_mode(mode);
    const Tensors inputs{drawn({n, 3}, static_cast<std::uint64_t>(n))};
    if (mode == Mode::evaluation)
      CHECK(same_bits(compiled(inputs)[0], norm(inputs[0])));
    else
      static_cast<void>(compiled(inputs));
  };
  run(Mode::training, 16);
  run(Mode::evaluation, 5);  // another mode and another extent: nothing is known of either
  for (const Mode mode : {Mode::evaluation, Mode::training}) {
    for (const Dim n : {16, 5, 7, 9}) run(mode, n);
  }
  CHECK(compiled.stats().n_traces == 4);  // two extents of each mode
  CHECK(compiled.stats().n_resized >= 5);
  for (const Recompile& each : compiled.stats().recompiles) CHECK_THAT(each.what, !Catch::Contains("static"));
}

TEST_CASE("symbolic: a training step on batches of any size ends in the bits of static plans", "[engine]") {
  struct Trained {
    explicit Trained(std::vector<BatchAxis> symbolic)
        : options{.breaks = Breaks::refused, .symbolic = std::move(symbolic)} {}
    CompileOptions options;
    InitialValues initial{7, DType::f32};
    Sequential all{Linear(3, 8, initial), BatchNorm(8, initial), engine::tanh, Linear(8, 1, initial)};
    Adam adam{all, {.learning_rate = 0.01}};
    Compiled step = compile(
        [this](const Tensors& in) -> Tensors {
          const auto [loss, gradients] =
              value_and_grad([&] { return mean_squared_error(all(in[0]), in[1]); }, adam.trained());
          adam.step(gradients);
          return {loss};
        },
        options);
  };
  const std::vector<BatchAxis> axes{{.bound = 24}};
  const Trained symbolic(axes), plain(std::vector<BatchAxis>{});
  for (const Dim n : {24, 24, 10, 24, 17, 10, 2, 24, 23}) {
    const Tensors batch{drawn({n, 3}, 1, DType::f32), drawn({n, 1}, 2, DType::f32)};
    CHECK(same_bits(symbolic.step(batch), plain.step(batch)));
    CHECK(same_bits(values_of(symbolic.all.cells()), values_of(plain.all.cells())));
  }
  CHECK(same_bits(values_of(symbolic.adam.cells()), values_of(plain.adam.cells())));
  REQUIRE_FALSE(symbolic.step.stats().recompiles.empty());
  INFO(symbolic.step.stats().recompiles[0].what);
  CHECK(symbolic.step.stats().n_traces == 2);
  CHECK(symbolic.step.stats().n_resized == 5);
  CHECK(symbolic.step.stats().n_undonated == plain.step.stats().n_undonated);
}

TEST_CASE("symbolic: numbers on lines are whole, rise, and keep to their dtypes", "[engine]") {
  const Line line{4, 10, 7};
  CHECK(line.at(8, 20) == 14);
  CHECK(line.at(5, 5) == 5);
  CHECK_FALSE(line.at(8, 2));
  CHECK_FALSE(line.at(8, 21));
  double number = 4.0;
  CHECK(put_on_line(number, 10.0, line));
  CHECK(number == 7.0);
  CHECK_FALSE(put_on_line(number, 7.5, line));
  double same = 0.1;
  CHECK(put_on_line(same, 0.1, line));
  const auto on = [&](double first, double second, DType dtype) {
    auto bytes = Number(first).element(dtype);
    const auto other = Number(second).element(dtype);
    return put_on_line(bytes, other, dtype, line);
  };
  CHECK(on(4e6, 1e7, DType::f32));
  CHECK_FALSE(on(4e7, 1e8, DType::f32));  // 7e7 is beyond the whole numbers that f32 counts
  CHECK(on(4e7, 1e8, DType::f64));
  CHECK_FALSE(on(4, 10, DType::f16));
  CHECK(on(4, 4, DType::f16));
}

TEST_CASE("symbolic: a wrong number on a line, and one that only one item has, are found", "[engine]") {
  const auto at = [](Dim n, const Function& f) {
    const std::vector<Aval> avals{{{n, 3}, DType::f64, default_device()},
                                  {{1, 3}, DType::f64, default_device()}};
    return SymbolicPlan::At{n, Program::of(Trace::without_values(f, avals, std::source_location::current()))};
  };
  const auto times = [](Dim a, Dim b) -> Function {
    return [=](const Tensors& in) -> Tensors { return {in[0] * (a * in[0].dim(0) + b)}; };
  };
  const auto none = [](const Program&, Dim) { return std::optional<Program>(); };
  const auto error_of_plan = [&](const SymbolicPlan::At& first, const SymbolicPlan::At& second,
                                 const SymbolicPlan::At& third) {
    return tests::error_of<core::InvalidArgument>([&] {
      static_cast<void>(SymbolicPlan(first, second, third, std::array<Dim, 3>{21, 23, 25}, none));
    });
  };
  const Function right = times(2, 1);
  CHECK(error_of_plan(at(4, right), at(10, right), at(7, right)).id() == "nothing_thrown");
  // The first two give a line with another a; the third says so.
  CHECK_THAT(error_of_plan(at(4, right), at(10, times(3, 1)), at(7, right)), tests::HasId("not_symbolic"));
  CHECK_THAT(error_of_plan(at(4, right), at(10, right), at(7, times(2, 2))), tests::HasId("not_symbolic"));
  // With one item a sum needs no broadcast: what was recorded for it is no program for more.
  const Function sums = [](const Tensors& in) -> Tensors { return {in[0] + in[1]}; };
  CHECK(error_of_plan(at(4, sums), at(10, sums), at(7, sums)).id() == "nothing_thrown");
  CHECK_THAT(error_of_plan(at(1, sums), at(10, sums), at(7, sums)), tests::HasId("not_symbolic"));
  CHECK_THAT(error_of_plan(at(4, sums), at(10, sums), at(1, sums)), tests::HasId("not_symbolic"));
}
