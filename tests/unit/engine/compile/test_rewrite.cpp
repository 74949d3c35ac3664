// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/rewrite.hpp"
#include "engine/ops/ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/engine/compile/plan_of.hpp"
#include "tests/unit/engine/compile/random_programs.hpp"
#include "tests/unit/engine/same_bits.hpp"

using namespace lodestone;
using namespace lodestone::engine;
using tests::plan_of;
using tests::same_bits;
using Applied = std::map<std::string_view, int>;

namespace {

/// Every bit pattern that matters: zeros, infinities, NaN, subnormal numbers, and usual ones.
Tensor usual_and_special() {
  std::mt19937_64 random(3);
  std::vector<double> values = tests::drawn(DType::f64, {500}, random).to_vector<double>();
  for (const double each : {0.0, -0.0, 5e-324, -5e-324, 1e-310, 1.7e308, -1.7e308}) values.push_back(each);
  return Tensor::from(values, {static_cast<Dim>(values.size())});
}

/// Returns which rules apply to f of what a kernel gives, after a check that the bits stay.
Applied applied_to(const std::function<Tensor(const Tensor&)>& f) {
  const Tensor x = usual_and_special();
  const Function g = [&](const Tensors& in) -> Tensors { return {f(maximum(in[0], in[1]))}; };
  const Tensors inputs{x, x};
  const Trace trace = Trace::without_values(g, avals_of(inputs), std::source_location::current());
  CHECK(same_bits(plan_of(trace, inputs, Level::O1)->run(inputs), g(inputs)));
  return rewritten(Program::of(trace)).applied;
}

}  // namespace

TEST_CASE("rewriting: ops that change nothing go", "[engine]") {
  CHECK(applied_to([](const Tensor& x) { return x * 1.0; }) == Applied{{"x 1", 1}});
  CHECK(applied_to([](const Tensor& x) { return 1.0 * x; }) == Applied{{"x 1", 1}});
  CHECK(applied_to([](const Tensor& x) { return x / 1.0; }) == Applied{{"x / 1", 1}});
  CHECK(applied_to([](const Tensor& x) { return x - 0.0; }) == Applied{{"x - 0", 1}});
  CHECK(applied_to([](const Tensor& x) { return x + -0.0; }) == Applied{{"x + -0", 1}});
  CHECK(applied_to([](const Tensor& x) { return -(-x); }) == Applied{{"-(-x)", 1}});
  CHECK(applied_to([](const Tensor& x) { return maximum(x, x); }) == Applied{{"larger of equals", 1}});
  CHECK(applied_to([](const Tensor& x) { return select(greater(x, 0.5), x, x); }) ==
        Applied{{"equal choices", 1}});
  CHECK(applied_to([](const Tensor& x) { return cast(cast(x, DType::c128) + 0.0, DType::c128); }).empty());
  CHECK(applied_to([](const Tensor& x) {
          const Tensor single = cast(x, DType::f32);
          return cast(cast(single, DType::f64), DType::f32);
        }) == Applied{{"cast and back", 1}});
  CHECK(applied_to([](const Tensor& x) { return stop_gradient(x) * 2.0; }) == Applied{{"identity", 1}});
  CHECK(applied_to([](const Tensor& x) { return exp(x) + exp(x); }) == Applied{{"occurs again", 1}});
  CHECK(applied_to([](const Tensor& x) { return (x - 0.0) * 1.0; }) == Applied{{"x - 0", 1}, {"x 1", 1}});
}

TEST_CASE("rewriting: ops that change a bit stay", "[engine]") {
  CHECK(applied_to([](const Tensor& x) { return x + 0.0; }).empty());
  CHECK(applied_to([](const Tensor& x) { return x - -0.0; }).empty());
  CHECK(applied_to([](const Tensor& x) { return 0.0 - x; }).empty());
  CHECK(applied_to([](const Tensor& x) { return x * 0.0; }).empty());
  CHECK(applied_to([](const Tensor& x) { return 1.0 / x; }).empty());
  CHECK(applied_to([](const Tensor& x) { return cast(cast(x, DType::f32), DType::f64); }).empty());
  CHECK(applied_to([](const Tensor& x) { return maximum(x, 0.25) - minimum(x, 0.5); }).empty());
  CHECK(applied_to([](const Tensor& x) { return exp(x) + exp(-x); }).empty());
  CHECK(applied_to([](const Tensor& x) {
          return blend(x, -x, {0.9, 0.1}) - blend(x, -x, {0.8, 0.1});
        }) == Applied{{"occurs again", 1}});  // -x alone
}

TEST_CASE("rewriting: a value with gaps does not take the place of one without", "[engine]") {
  const Tensor x = transpose(reshape(slice(usual_and_special(), 0, 0, 480), {24, 20})).eval();
  const Function f = [](const Tensors& in) -> Tensors { return {sum(in[0] * 1.0, Axes{0}), -(-in[0])}; };
  const Trace trace = Trace::without_values(f, avals_of(Tensors{x}), std::source_location::current());
  CHECK(rewritten(Program::of(trace)).applied.empty());
  CHECK(same_bits(plan_of(trace, {x}, Level::O1)->run(Tensors{x}), f({x})));
}
