// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/compile.hpp"
#include "engine/core/log.hpp"
#include "engine/core/map_algebra.hpp"
#include "engine/core/parallel.hpp"
#include "engine/dispatch/executor.hpp"
#include "engine/graph/op_info.hpp"
#include "engine/nn/activation.hpp"
#include "engine/nn/linear.hpp"
#include "engine/nn/loss.hpp"
#include "engine/nn/normalization.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/checkpoint.hpp"
#include "engine/transform/external.hpp"
#include "engine/transform/variables.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/row.hpp"
#include "tests/unit/engine/same_bits.hpp"

#include <thread>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::row;
using tests::same_bits;

namespace {

using Numbers = std::vector<double>;

Numbers held(const Variable& variable) { return variable.value().to_vector<double>(); }
double first(const Tensors& tensors) { return tensors[0].to_vector<double>()[0]; }

/// x² + 1, counting its calls.
class Parabola {
 public:
  Tensors operator()(const Tensors& x) const {
    ++*n_calls_;
    return {x[0] * x[0] + 1.0};
  }
  [[nodiscard]] int n_calls() const { return *n_calls_; }

 private:
  std::shared_ptr<int> n_calls_ = std::make_shared<int>(0);
};

}  // namespace

TEST_CASE("compile: a function is called once for all inputs of a kind", "[engine]") {
  const Parabola f;
  const Compiled compiled = compile(f, {.level = Level::O0});
  CHECK(compiled.text().empty());
  for (const double x : {1.0, 2.0, 3.0}) CHECK(first(compiled({row({x, 0})})) == x * x + 1.0);
  CHECK(f.n_calls() == 1);
  const CompileStats stats = compiled.stats();
  CHECK(stats.n_calls == 3);
  CHECK(stats.n_hits == 2);
  CHECK(stats.n_traces == 1);
  CHECK(stats.n_plans == 1);
  CHECK(stats.n_launches == 6);
  CHECK(stats.n_copies == 0);
  CHECK(stats.block_bytes == 64);
  CHECK(stats.most_alive_bytes == 64);
  CHECK(stats.recompiles.empty());
  CHECK(compiled.text().find("multiply(%0, %0)") != std::string::npos);
}

TEST_CASE("compile: levels give the same bits with fewer launches", "[engine]") {
  const auto f = [](const Tensors& x) -> Tensors { return {engine::tanh(x[0] * 2.0 + 1.0) / x[0]}; };
  const Tensors x{row({0.1, -0.2, 0.3})};
  const Compiled as_recorded = compile(f, {.level = Level::O0}), merged = compile(f);
  CHECK(same_bits(as_recorded(x), f(x)));
  CHECK(same_bits(merged(x), f(x)));
  CHECK(as_recorded.stats().n_launches == 4);
  CHECK(merged.stats().n_launches == 1);
  CHECK(merged.text() == as_recorded.text());
  CHECK(as_recorded.text(Stage::running) == as_recorded.text());
  CHECK(merged.text(Stage::running).find("{vmath::tanh(x)}") != std::string::npos);
  CHECK(merged.text(Stage::running).find("tanh(%") == std::string::npos);
}

TEST_CASE("compile: another kind of input is recorded anew, and the first difference is told", "[engine]") {
  const Parabola f;
  const Compiled compiled = compile(f);
  const auto says = [&](const Tensors& inputs, Cause cause, const std::string& what) {
    const Tensors given = compiled(inputs);
    CHECK(same_bits(given, Parabola()(inputs)));
    const CompileStats stats = compiled.stats();
    REQUIRE_FALSE(stats.recompiles.empty());
    CHECK(stats.recompiles.back().cause == cause);
    CHECK(stats.recompiles.back().what == what);
    CHECK(std::string(stats.recompiles.back().where.file_name()).ends_with("test_compile.cpp"));
  };
  const Tensor x = zeros({2, 3}, DType::f64).eval() + 1.0;
  static_cast<void>(compiled({x}));
  says({zeros({2, 5}, DType::f64) + 1.0}, Cause::inputs, "input 0: extent of axis 1 was 3, is 5");
  says({row({1})}, Cause::inputs, "input 0: number of axes was 2, is 1");
  says({cast(row({1}), DType::f32)}, Cause::inputs, "input 0: dtype was f64, is f32");
  says({row({1, 2}), row({1})}, Cause::inputs, "number of inputs was 1, is 2");
  says({row({1, 2}), flip(row({1, 2}), 0)}, Cause::inputs, "input 1: extent of axis 0 was 1, is 2");
  CHECK(compiled.stats().n_plans == 6);
  CHECK(compiled.stats().recompiles.size() == 5);
  const Compiled once = compile(f);
  static_cast<void>(once({Tensor::from(Numbers{1, 2, 3, 4}, {2, 2})}));
  static_cast<void>(once({transpose(Tensor::from(Numbers{1, 2, 3, 4}, {2, 2}))}));
  REQUIRE(once.stats().recompiles.size() == 1);
  CHECK(once.stats().recompiles[0].cause == Cause::strides);
  CHECK(once.stats().recompiles[0].what == "input 0: strides was [2, 1], is [1, 2]");
}

TEST_CASE("compile: threads and the mode of a module decide too, equal programs share a plan", "[engine]") {
  const int before = core::threads();
  const Parabola f;
  const Compiled compiled = compile(f);
  static_cast<void>(compiled({row({1})}));
  core::set_threads(before + 1);
  static_cast<void>(compiled({row({1})}));
  core::set_threads(before);
  REQUIRE(compiled.stats().recompiles.size() == 1);
  CHECK(compiled.stats().recompiles[0].cause == Cause::threads);
  CHECK(compiled.stats().n_plans == 2);

  InitialValues initial(1);
  const BatchNorm norm(3, initial);
  const Compiled net = compile([&](const Tensors& x) -> Tensors { return {norm(x[0])}; });
  const Tensor x = Tensor::from(std::vector<float>{1, 2, 3, 5, 7, 11}, {2, 3});
  const auto of_mode = [&](Mode mode) {
    const InMode scope(norm, mode);
    return net({x})[0];
  };
  norm.set_mode(Mode::evaluation);
  const Tensor evaluated = of_mode(Mode::evaluation), trained = of_mode(Mode::training);
  CHECK_FALSE(same_bits(evaluated, trained));
  CHECK(net.stats().n_plans == 2);
  CHECK(net.stats().recompiles[0].cause == Cause::host_state);
  for (int i = 0; i < 3; ++i) {  // recorded again, but no new programs
    CHECK_FALSE(same_bits(of_mode(Mode::evaluation), evaluated));
    CHECK(same_bits(of_mode(Mode::training), trained));
  }
  CHECK(net.stats().n_plans == 2);
}

TEST_CASE("compile: past the most plans the oldest goes", "[engine]") {
  const Parabola f;
  const Compiled compiled = compile(f, {.most_plans = 2});
  const core::log::KeptWarnings warnings;
  for (const std::size_t n : {1, 2, 1, 2}) static_cast<void>(compiled({row(Numbers(n, 1.0))}));
  CHECK(f.n_calls() == 2);
  CHECK(warnings.all().empty());
  static_cast<void>(compiled({row(Numbers(3, 1.0))}));
  static_cast<void>(compiled({row(Numbers(2, 1.0))}));
  CHECK(f.n_calls() == 3);
  static_cast<void>(compiled({row(Numbers(1, 1.0))}));
  CHECK(f.n_calls() == 4);
  REQUIRE(warnings.all().size() == 1);
  CHECK(warnings.all()[0].id == "engine::compile#too_many_plans");
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(compile(f, {.most_plans = 0})); }),
             HasId("no_plans", {"0", "(test_compile.cpp:"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(compile(Function())); }),
             HasId("no_function", {"(test_compile.cpp:"}));
}

TEST_CASE("compile: cells that are read, written or both", "[engine]") {
  const Variable weight("weight", row({2})), sum_so_far("sum", row({0}), Variable::Role::state),
      last("last", row({0}), Variable::Role::state);
  const auto f = [&](const Tensors& x) -> Tensors {
    const Tensor y = weight.value() * x[0];
    last.assign(y);
    sum_so_far.assign(sum_so_far.value() + last.value());
    return {y};
  };
  const Compiled compiled = compile(f);
  CHECK(first(compiled({row({3})})) == 6.0);
  CHECK(held(last) == Numbers{6});
  CHECK(held(sum_so_far) == Numbers{6});
  weight.assign(row({10}));  // read anew
  CHECK(first(compiled({row({3})})) == 30.0);
  sum_so_far.assign(row({1}));
  CHECK(first(compiled({row({4})})) == 40.0);
  CHECK(held(sum_so_far) == Numbers{41});
  CHECK(held(last) == Numbers{40});
  CHECK(compiled.stats().n_traces == 1);
  // One cell under two names.
  const Variable same = weight;
  const Compiled twice = compile([&](const Tensors& x) -> Tensors {
    weight.assign(weight.value() + x[0]);
    same.assign(same.value() * 2.0);
    return {weight.value()};
  });
  CHECK(first(twice({row({1})})) == 22.0);
  CHECK(first(twice({row({1})})) == 46.0);
  CHECK(held(weight) == Numbers{46});
  CHECK(twice.stats().n_traces == 1);
}

TEST_CASE("compile: what a cell holds may change its strides", "[engine]") {
  const Tensor square = Tensor::from(Numbers{1, 2, 3, 4}, {2, 2});
  const Variable cell("cell", square, Variable::Role::state);
  const Compiled compiled =
      compile([&](const Tensors& x) -> Tensors { return {sum(cell.value() * x[0], Axes{0})}; });
  CHECK(compiled({square})[0].to_vector<double>() == Numbers{10, 20});
  cell.assign(transpose(square));
  CHECK(compiled({square})[0].to_vector<double>() == Numbers{7, 22});
  REQUIRE(compiled.stats().recompiles.size() == 1);
  CHECK(compiled.stats().recompiles[0].what == "cell 0: strides was [2, 1], is [1, 2]");
}

TEST_CASE("compile: a function that throws leaves every cell as it was", "[engine]") {
  const Variable read("read", row({2})), written("written", row({3}), Variable::Role::state);
  const Tensor before_read = read.value(), before_written = written.value();
  const auto check_cells = [&] {
    CHECK(read.value().node_pointer() == before_read.node_pointer());
    CHECK(written.value().node_pointer() == before_written.node_pointer());
  };
  bool throws = true;
  const Compiled compiled = compile([&](const Tensors& x) -> Tensors {
    written.assign(read.value() * x[0] + 0.0 * written.value());
    if (throws) throw core::SolverError("test#diverged", "diverged");
    return {written.value()};
  });
  CHECK_THAT(error_of<core::SolverError>([&] { static_cast<void>(compiled({row({1})})); }),
             HasId("diverged"));
  check_cells();
  // Not even where the caller holds other tensors in them and recovers.
  {
    const HeldValues scope(Variables{read}, {row({30})});
    CHECK_THROWS_AS(compiled({row({1})}), core::SolverError);
    CHECK(held(read) == Numbers{30});
  }
  check_cells();
  const Compiled reader = compile([&](const Tensors& x) -> Tensors {
    written.assign(x[0]);
    if (x[0].item<double>() > 0.0) return {x[0]};
    return {read.value()};
  });
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(reader({row({1})})); }),
             HasId("no_values_while_tracing", {"(test_compile.cpp:"}));
  check_cells();
  throws = false;
  CHECK(first(compiled({row({5})})) == 10.0);
  CHECK(held(written) == Numbers{10});
}

TEST_CASE("compile: a run that fails leaves every cell as it was", "[engine]") {
  bool fails = false;
  const core::MapPtr map = core::pointwise(
      "may fail", 1,
      [&](double t) {
        if (fails) throw core::SolverError("test#diverged", "diverged");
        return t;
      },
      [](double) { return 1.0; });
  const Variable a("a", row({1}), Variable::Role::state);
  const Compiled compiled = compile([&](const Tensors& x) -> Tensors {
    a.assign(a.value() + x[0]);
    return {external(map, x[0])};
  });
  CHECK(first(compiled({row({2})})) == 2.0);
  fails = true;
  CHECK_THROWS_AS(compiled({row({2})}), core::SolverError);
  CHECK(held(a) == Numbers{3});
  fails = false;
  CHECK(first(compiled({row({2})})) == 2.0);
  CHECK(held(a) == Numbers{5});
}

TEST_CASE("compile: state inside of a sub-graph can be read, but not assigned", "[engine]") {
  const Variable weight("weight", row({3})), state("state", row({1}), Variable::Role::state);
  const Compiled reads = compile([&](const Tensors& x) {
    return checkpoint([&](const Tensors& in) -> Tensors { return {in[0] * weight.value()}; })(x);
  });
  CHECK(first(reads({row({2})})) == 6.0);
  weight.assign(row({5}));
  CHECK(first(reads({row({2})})) == 10.0);
  CHECK(reads.stats().n_traces == 1);
  const Compiled assigns = compile([&](const Tensors& x) {
    return checkpoint([&](const Tensors& in) -> Tensors {
      state.assign(in[0]);
      return {in[0] + 1.0};
    })(x);
  });
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(assigns({row({2})})); }),
             HasId("no_values_while_tracing", {"\"state\"", "(test_compile.cpp:"}));
  CHECK(assigns.stats().n_traces == 0);  // it is refused while it is recorded
  CHECK(held(state) == Numbers{1});
}

TEST_CASE("compile: captured tensors are constants, results are handles of their own", "[engine]") {
  Tensor factor = row({2});
  const Compiled compiled = compile([&](const Tensors& x) -> Tensors { return {x[0] * factor, x[0]}; });
  const Tensors kept = compiled({row({3})});
  factor = row({100});
  const Tensors later = compiled({row({4})});
  CHECK(first(kept) == 6.0);
  CHECK(first(later) == 8.0);
  CHECK(kept[1].item<double>() == 3.0);
  const Compiled constant = compile([](const Tensors&) -> Tensors { return {row({1}) + row({2})}; });
  CHECK(first(constant({})) == 3.0);
  CHECK(constant.stats().n_launches == 0);
}

TEST_CASE("compile: inside of a transform a compiled function is its function", "[engine]") {
  const Parabola f;
  const Compiled compiled = compile(f);
  const auto as_scalar = [&](const Tensor& x) { return sum(compiled({x})[0]); };
  CHECK(grad(as_scalar)(row({3})).item<double>() == 6.0);
  CHECK(hessian_product(as_scalar, row({3}), row({1})).item<double>() == 2.0);
  CHECK(vmap([&](const Tensor& x) { return compiled({x})[0]; })(row({1, 2})).to_vector<double>() ==
        Numbers{2, 5});
  const Compiled outer = compile([&](const Tensors& x) -> Tensors { return {compiled(x)[0] * 2.0}; });
  CHECK(first(outer({row({2})})) == 10.0);
  CHECK(compiled.stats().n_traces == 0);
  // By way of a cell, and by way of a captured tensor.
  const Variable weight("weight", row({3}));
  const Compiled product = compile([&](const Tensors& x) -> Tensors { return {weight.value() * x[0]}; });
  CHECK(first(product({row({2})})) == 6.0);
  const auto slope = [&](const Compiled& of) {
    return value_and_grad([&] { return sum(square(of({row({2})})[0])); }, {weight})
        .gradients[0]
        .item<double>();
  };
  CHECK(slope(product) == 24.0);
  CHECK(slope(compile([&](const Tensors& x) -> Tensors { return {weight.value() * x[0]}; })) == 24.0);
  const auto by_capture = [&](const Tensor& captured) {
    const Compiled inner = compile([&](const Tensors& x) -> Tensors { return {x[0] * captured}; });
    return sum(inner({row({5})})[0]);
  };
  CHECK(grad(by_capture)(row({3})).item<double>() == 5.0);
  // What a transform has left behind is a tensor like any other.
  const Tensor gradient = grad(as_scalar)(row({3}));
  static_cast<void>(compiled({gradient}));
  CHECK(compiled.stats().n_traces == 1);
}

TEST_CASE("compile: operands with gaps are copied for kernels that take none, and counted", "[engine]") {
  const Compiled compiled = compile([](const Tensors& x) -> Tensors { return {softmax(x[0])}; });
  const Tensor x = transpose(Tensor::from(Numbers{1, 2, 3, 4}, {2, 2}));
  CHECK(same_bits(compiled({x})[0], softmax(x)));
  CHECK(compiled.stats().n_copies == 1);
  CHECK(compiled.stats().n_launches == 2);
}

TEST_CASE("compile: who looks on sees every op", "[engine]") {
  const Compiled compiled = compile(Parabola());
  const Tensor x = row({2});
  static_cast<void>(compiled({x}));
  std::string seen;
  {
    const ExecutionObserver observer([&](const Node& node) { seen += node.op->name + " "; });
    CHECK(first(compiled({x})) == 5.0);
  }
  CHECK(seen.find("multiply ") != std::string::npos);
  CHECK(compiled.stats().n_hits == 0);
}

TEST_CASE("compile: effects run in every call, in their order", "[engine]") {
  std::string taken;
  const auto note = [&](const std::string& name) {
    return core::pointwise(
        name, 1, [&taken, name](double t) { return taken += name, t; }, [](double) { return 1.0; });
  };
  const Compiled compiled = compile([a = note("a"), b = note("b")](const Tensors& x) -> Tensors {
    static_cast<void>(external(b, x[0]));
    return {external(a, x[0] + 1.0)};
  });
  for (int i = 0; i < 3; ++i) CHECK(first(compiled({row({1})})) == 2.0);
  CHECK(taken == "bababa");
}

TEST_CASE("compile: threads call one function at once", "[engine]") {
  const Compiled compiled = compile([](const Tensors& x) -> Tensors { return {sin(x[0]) * x[0] + 1.0}; });
  std::array<int, 3> n_wrong{};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < n_wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      const Tensor x = Tensor::from(Numbers(50, 0.1 * static_cast<double>(t + 1)), {50}, cpu);
      const Tensor right = (sin(x) * x + 1.0).eval();
      for (int i = 0; i < 100; ++i) n_wrong[t] += same_bits(compiled({x})[0], right) ? 0 : 1;
    });
  }
  for (std::thread& each : threads) each.join();
  CHECK(n_wrong == std::array<int, 3>{});
  CHECK(compiled.stats().n_calls == 300);
}

namespace {

/// A perceptron with a batch norm, trained by steps against the gradient with momentum.
class Training {
 public:
  Training()
      : initial_(3),
        net_{Linear(3, 8, initial_), BatchNorm(8, initial_), engine::tanh, Linear(8, 1, initial_)} {
    for (const Variable& each : net_.parameters())
      moments_.emplace_back("moment", zeros_like(each.value()).eval(), Variable::Role::state);
  }
  [[nodiscard]] Tensors step(const Tensors& batch) const {
    const Variables parameters = net_.parameters();
    const auto loss = [&] { return mean_squared_error(net_(batch[0]), batch[1]); };
    const auto [value, gradients] = value_and_grad(loss, parameters);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      moments_[i].assign(0.9 * moments_[i].value() + gradients[i]);
      parameters[i].assign(parameters[i].value() - 0.05 * moments_[i].value());
    }
    return {value};
  }
  /// Returns losses of some steps and all state after them.
  [[nodiscard]] Tensors run(const Function& by) const {
    Tensors result;
    for (int i = 0; i < 20; ++i) {
      Numbers x, y;
      for (int k = 0; k < 12; ++k) x.push_back(std::sin(0.7 * (k + 12 * i)));
      for (int k = 0; k < 4; ++k) y.push_back(x[static_cast<std::size_t>(3 * k)] * x[1]);
      const Tensors batch{cast(Tensor::from(x, {4, 3}), DType::f32),
                          cast(Tensor::from(y, {4, 1}), DType::f32)};
      result.push_back(by(batch)[0].eval());
    }
    for (const Variable& each : net_.cells()) result.push_back(each.value());
    for (const Variable& each : moments_) result.push_back(each.value());
    eval(result);
    return result;
  }

 private:
  InitialValues initial_;
  Sequential net_;
  Variables moments_;
};

}  // namespace

TEST_CASE("compile: training with batch norm and momentum ends in the same bytes as without", "[engine]") {
  const Training plain, compiled;
  const Compiled step = compile([&](const Tensors& batch) { return compiled.step(batch); });
  const Tensors right = plain.run([&](const Tensors& batch) { return plain.step(batch); });
  CHECK(same_bits(compiled.run(step), right));
  // The first step finds zeros that are one number seen often, all others arrays.
  CHECK(step.stats().n_traces == 2);
  CHECK(step.stats().n_hits == 18);
  REQUIRE(step.stats().recompiles.size() == 1);
  CHECK(step.stats().recompiles[0].cause == Cause::strides);
}
