// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/compile.hpp"
#include "engine/core/log.hpp"
#include "engine/core/map_algebra.hpp"
#include "engine/core/parallel.hpp"
#include "engine/dispatch/executor.hpp"
#include "engine/graph/op_info.hpp"
#include "engine/nn/normalization.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/checkpoint.hpp"
#include "engine/transform/external.hpp"
#include "engine/transform/transforms.hpp"
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
  REQUIRE(net.stats().recompiles.size() == 1);
  CHECK(net.stats().recompiles[0].cause == Cause::host_state);
  for (int i = 0; i < 3; ++i) {
    CHECK_FALSE(same_bits(of_mode(Mode::evaluation), evaluated));
    CHECK(same_bits(of_mode(Mode::training), trained));
  }
  CHECK(net.stats().n_plans == 2);
  CHECK(net.stats().n_traces == 2);
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

TEST_CASE("compile: zeros that are one number seen often do not record a cell's function twice", "[engine]") {
  const Tensor start = zeros({2, 3}, DType::f64).eval();
  REQUIRE(start.node().look.strides[1] == 0);
  const Variable cell("cell", start, Variable::Role::state);
  const Compiled compiled = compile([&](const Tensors& x) -> Tensors {
    cell.assign(cell.value() + x[0]);
    return {};
  });
  for (int i = 0; i < 3; ++i) static_cast<void>(compiled({row({1, 2, 3})}));
  CHECK(held(cell) == Numbers{3, 6, 9, 3, 6, 9});
  CHECK(start.to_vector<double>() == Numbers(6, 0.0));
  CHECK(compiled.stats().n_traces == 1);
  CHECK(compiled.stats().n_copies == 0);
  CHECK(compiled.stats().n_undonated == 1);  // the zeros belong to the caller, too
}

TEST_CASE("compile: a cell of zeros that nobody else holds takes its first value in their copy", "[engine]") {
  const Variable cell("cell", zeros({2, 3}, DType::f64).eval(), Variable::Role::state);
  REQUIRE(cell.value().node().look.strides[1] == 0);
  const Compiled compiled = compile([&](const Tensors& x) -> Tensors {
    cell.assign(cell.value() + x[0]);
    return {};
  });
  for (int i = 0; i < 3; ++i) static_cast<void>(compiled({row({1, 2, 3})}));
  CHECK(held(cell) == Numbers{3, 6, 9, 3, 6, 9});
  CHECK(compiled.stats().n_undonated == 0);
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
  const Compiled reader = compile(
      [&](const Tensors& x) -> Tensors {
        written.assign(x[0]);
        if (x[0].item<double>() > 0.0) return {x[0]};
        return {read.value()};
      },
      {.breaks = Breaks::refused});
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

TEST_CASE("compile: state inside of a sub-graph can be read and assigned, but not under a batch",
          "[engine]") {
  const Variable weight("weight", row({3})), state("state", row({1}), Variable::Role::state);
  const Compiled assigns = compile([&](const Tensors& x) {
    return checkpoint([&](const Tensors& in) -> Tensors {
      state.assign(in[0] * weight.value());
      return {in[0] + 1.0};
    })(x);
  });
  CHECK(first(assigns({row({2})})) == 3.0);
  CHECK(held(state) == Numbers{6});
  weight.assign(row({5}));
  static_cast<void>(assigns({row({2})}));
  CHECK(held(state) == Numbers{10});
  CHECK(assigns.stats().n_traces == 1);
  const Compiled under_batch = compile([&](const Tensors& x) {
    return vmap([&](const Tensors& in) -> Tensors {
      state.assign(in[0]);
      return in;
    })({expand_dims(x[0], 0)});
  });
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(under_batch({row({2})})); }),
             HasId("no_values_while_tracing", {"\"state\"", "(test_compile.cpp:"}));
  CHECK(under_batch.stats().n_traces == 0);  // it is refused while it is recorded
  CHECK(held(state) == Numbers{10});
}

TEST_CASE("compile: a function that reads values runs op by op, which is counted by line", "[engine]") {
  const Variable sum_so_far("sum", row({0}), Variable::Role::state);
  int n_calls = 0;
  const auto absolute = [&](const Tensors& x) -> Tensors {
    ++n_calls;
    sum_so_far.assign(sum_so_far.value() + reshape(x[0], {1}));
    if (x[0].item<double>() > 0.0) return {x[0] * 1.0};
    return {-x[0]};
  };
  const Compiled compiled = compile(absolute);
  CHECK(first(compiled({row({3})})) == 3.0);
  CHECK(n_calls == 2);  // recorded in vain, then run
  CHECK(first(compiled({row({-4})})) == 4.0);
  CHECK(n_calls == 3);
  CHECK(held(sum_so_far) == Numbers{-1});
  CompileStats stats = compiled.stats();
  REQUIRE(stats.breaks.size() == 1);
  CHECK(stats.breaks[0].n == 2);
  CHECK(stats.breaks[0].what == "elements of f64[1]");
  CHECK(std::string(stats.breaks[0].where.file_name()).ends_with("test_compile.cpp"));
  CHECK(stats.n_traces == 0);
  CHECK(stats.n_hits == 0);
  CHECK(compiled.text().empty());
  // Another kind of argument breaks at the same line, until it is found to be of no use.
  CHECK_THROWS_AS(compiled({row({1, 2})}), core::ShapeError);
  CHECK(first(compiled({reshape(row({5}), {1, 1})})) == 5.0);
  stats = compiled.stats();
  REQUIRE(stats.breaks.size() == 2);
  CHECK(stats.breaks[1].what == "elements of f64[1, 1]");
  CHECK(stats.breaks[1].where.line() == stats.breaks[0].where.line());
  const Compiled strict = compile(absolute, {.breaks = Breaks::refused});
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(strict({row({3})})); }),
             HasId("no_values_while_tracing", {"f64[1]", "(test_compile.cpp:"}));
  CHECK(strict.stats().breaks.empty());
}

namespace {

/// Steps of `f` on a cell that begins as [1, 2]; returns how many of its new values had new memory.
std::int64_t n_undonated(const std::function<Tensors(const Variable&, const Tensors&)>& f,
                         Level level = Level::O0, int n_calls = 5) {
  const Variable cell("cell", row({1, 2}), Variable::Role::state), plain("plain", row({1, 2}));
  const Compiled compiled = compile([&](const Tensors& x) { return f(cell, x); }, {.level = level});
  Tensors given, right;
  for (int i = 0; i < n_calls; ++i) {
    const Tensors x{row({3.0 + i, 4})};
    given = compiled(x);
    right = f(plain, x);
    CHECK(same_bits(given, right));
    CHECK(held(cell) == held(plain));
  }
  CHECK(compiled.stats().n_traces == 1);
  return compiled.stats().n_undonated;
}

}  // namespace

TEST_CASE("compile: a cell takes its new value in its own memory where nobody needs the old one",
          "[engine]") {
  CHECK(n_undonated([](const Variable& cell, const Tensors& x) -> Tensors {
          cell.assign(cell.value() * x[0]);
          return {};
        }) == 0);
  CHECK(n_undonated([](const Variable& cell, const Tensors& x) -> Tensors {  // read as a whole before
          const Tensor total = sum(cell.value());
          cell.assign(x[0] + total);
          return {total};
        }) == 0);
  CHECK(n_undonated([](const Variable& cell, const Tensors& x) -> Tensors {  // read afterwards
          const Tensor before = cell.value();
          cell.assign(sin(before) * x[0]);
          const Tensor product = before * cell.value();
          return {product + before};
        }) == 5);
  CHECK(n_undonated([](const Variable& cell, const Tensors& x) -> Tensors {  // read elsewhere when written
          cell.assign(cell.value() + flip(cell.value(), 0) * x[0]);
          return {};
        }) == 0);
  CHECK(n_undonated([](const Variable& cell, const Tensors& x) -> Tensors {  // in one kernel
          cell.assign(cell.value() + flip(cell.value(), 0));
          return {x[0]};
        }) == 5);
  CHECK(n_undonated([](const Variable& cell, const Tensors& x) -> Tensors {  // the caller gets the old one
          const Tensor before = cell.value();
          cell.assign(before + x[0]);
          return {before};
        }) == 5);
  CHECK(n_undonated([](const Variable& cell, const Tensors& x) -> Tensors {  // an index may be wrong later
          cell.assign(cell.value() + x[0]);
          return {take(x[0], Tensor::from(std::vector<std::int64_t>{1, 0}, {2})) * 1.0};
        }) == 5);
  CHECK(n_undonated([](const Variable& cell, const Tensors& x) -> Tensors {  // a function may keep it
          const auto twice = core::pointwise(
              "twice", 2, [](double t) { return 2 * t; }, [](double) { return 2.0; });
          const Tensor y = external(twice, cell.value());
          cell.assign(cell.value() + x[0]);
          return {y};
        }) == 5);
}

TEST_CASE("compile: ops that run as one write cells in their places where nothing reads them afterwards",
          "[engine]") {
  const Variable mean("mean", row({1, 2})), size("size", row({3, 4})), p("p", row({5, 6}));
  const auto step = [&](const Tensors& x) -> Tensors {
    mean.assign(blend(mean.value(), x[0], {0.9, 0.1}));
    size.assign(blend(size.value(), square(x[0]), {0.99, 0.01}));
    p.assign(adam_step(p.value(), mean.value(), size.value(), {1e-3, 1.1, 1e-8}));
    return {};
  };
  const Compiled compiled = compile(step);
  for (int i = 0; i < 5; ++i) compiled({row({0.5 * i, 4})});
  CHECK(compiled.stats().n_launches == 5);
  CHECK(compiled.stats().n_undonated == 0);
  const Numbers after[3] = {held(mean), held(size), held(p)};
  mean.assign(row({1, 2})), size.assign(row({3, 4})), p.assign(row({5, 6}));
  for (int i = 0; i < 5; ++i) step({row({0.5 * i, 4})});
  CHECK(held(mean) == after[0]);
  CHECK(held(size) == after[1]);
  CHECK(held(p) == after[2]);
  CHECK(n_undonated(
            [](const Variable& cell, const Tensors& x) -> Tensors {  // the old one is read later in the pass
              const Tensor before = cell.value();
              cell.assign(before * x[0]);
              return {sin(cell.value()) + before};
            },
            Level::O1) == 5);
}

TEST_CASE("compile: memory that somebody else holds keeps its elements", "[engine]") {
  const Variable cell("cell", row({1, 2}), Variable::Role::state);
  const Compiled compiled = compile([&](const Tensors& x) -> Tensors {
    cell.assign(cell.value() * x[0]);
    return {};
  });
  static_cast<void>(compiled({row({2, 2})}));
  CHECK(compiled.stats().n_undonated == 0);
  const Tensor kept = cell.value();
  static_cast<void>(compiled({row({2, 2})}));
  CHECK(kept.to_vector<double>() == Numbers{2, 4});
  CHECK(compiled.stats().n_undonated == 1);
  const Tensor part = slice(cell.value(), 0, 1, 2).eval();
  static_cast<void>(compiled({row({2, 2})}));
  CHECK(part.to_vector<double>() == Numbers{8});
  CHECK(compiled.stats().n_undonated == 2);
  static_cast<void>(compiled({cell.value()}));  // as an argument
  CHECK(held(cell) == Numbers{64, 256});
  const Variable other("other", cell.value(), Variable::Role::state);
  static_cast<void>(compiled({row({2, 2})}));
  CHECK(held(other) == Numbers{64, 256});
  static_cast<void>(compiled({row({2, 2})}));
  CHECK(compiled.stats().n_undonated == 4);
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
