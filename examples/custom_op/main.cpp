// SPDX-License-Identifier: Apache-2.0
// What this shows: an op of one's own is one row and one loop; it is then differentiated, batched and checked
// like the engine's.
//
// Equation: y = (x² + ε²)^(1/2), dy = x / y dx
//
// Sample run: custom_op
#include "engine/core/log.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/rules.hpp"
#include "engine/ops/sampler.hpp"
#include "engine/record/record.hpp"
#include "engine/testing/check_op.hpp"
#include "engine/transform/transforms.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::engine;

struct SmoothAbsAttrs {
  double epsilon;
  static auto fields() { return std::tuple{Field{"epsilon", &SmoothAbsAttrs::epsilon}}; }
};

template <class T>
void smooth_abs_loop(const KernelCall& call) {
  const auto epsilon = static_cast<T>(call.attrs_of<SmoothAbsAttrs>().epsilon);
  for (std::int64_t i = 0; i < call.out[0].count(); ++i)
    call.out[0].as<T>()[i] = std::hypot(call.in[0].as<T>()[i], epsilon);
}

OpInfo smooth_abs_row() {
  OpInfo row;
  row.name = "smooth_abs";
  row.formula = "(x^2 + epsilon^2)^(1/2)";
  row.dtypes = real_floats;
  row.infer = infer_alike;
  row.derivative = by_partials("x / y dx", {[](const RuleArgs& args) { return args.in[0] / args.out; }});
  row.op_class = OpClass::elementwise;
  row.sample = [](Sampler& sampler) {
    return Sample{{sampler.tensor(sampler.shape(0, 3), -2, 2)}, make_attrs(SmoothAbsAttrs{0.5})};
  };
  row.with_kernel(Backend::reference, DType::f32, {"reference.loop", smooth_abs_loop<float>, true});
  row.with_kernel(Backend::reference, DType::f64, {"reference.loop", smooth_abs_loop<double>, true});
  return row;
}

int main() {
  static const OpInfo& op = OpTable::global().add(smooth_abs_row());
  const auto smooth_abs = [](const Tensor& x) {
    return record(op, {x}, make_attrs(SmoothAbsAttrs{0.1}), std::source_location::current());
  };
  const Tensor x = Tensor::from(std::vector<double>{-1.0, 0.0, 0.1}, {3});
  const auto slope = grad([&](const Tensor& t) { return sum(smooth_abs(t)); })(x).to_vector<double>();
  core::log::info("slope of smooth_abs at -1, 0, 0.1: {:.4f} {:.4f} {:.4f}", slope[0], slope[1], slope[2]);

  const OpCheckResult result = check_op("smooth_abs");
  core::log::info("check_op: {} checks {}", result.n_checks, result.passed ? "pass" : "\n" + result.report);
  return result.passed ? 0 : 1;
}
