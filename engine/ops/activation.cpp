// SPDX-License-Identifier: Apache-2.0
// Activations that are ops, so that their derivatives keep x alone: swish and gelu, each with the op of its
// slope. source: Hendrycks & Gimpel 2016, arXiv:1606.08415
#include "engine/ops/batching.hpp"
#include "engine/ops/composite.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/register.hpp"
#include "engine/ops/rules.hpp"
#include "engine/ops/sampler.hpp"

#include <numbers>

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;

Tensor decompose_swish(R args) { return args.in[0] * sigmoid(args.in[0]); }
Tensor decompose_swish_slope(R args) {
  const Tensor s = sigmoid(args.in[0]);
  return args.in[1] * (s * (1.0 + args.in[0] * (1.0 - s)));
}

/// Returns 1 + erf(x / √2), twice the normal distribution.
Tensor twice_normal(const Tensor& x) { return 1.0 + erf(x * (1.0 / std::numbers::sqrt2)); }
Tensor decompose_gelu(R args) { return 0.5 * args.in[0] * twice_normal(args.in[0]); }
Tensor decompose_gelu_slope(R args) {
  const Tensor& x = args.in[0];
  constexpr double density_at_0 = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  return args.in[1] * (0.5 * twice_normal(x) + x * (density_at_0 * exp(-0.5 * x * x)));
}

/// A function f of one element, and the op "f_slope" of its slope times t.
struct Activation {
  std::string name, formula, slope_formula;  ///< functions of x, and of x and t
  Tensor (*decompose)(R), (*decompose_slope)(R);
};

OpInfo elementwise_row(OpInfo row) {
  row.infer = infer_alike;
  row.op_class = OpClass::elementwise;
  row.sample = [n = row.n_inputs](Sampler& sampler) {
    Sample sample;
    const Shape shape = sampler.shape(0, 4);
    for (int i = 0; i < n; ++i) sample.inputs.push_back(sampler.tensor(shape, -3, 3));
    return sample;
  };
  return row;
}

void add(OpTable& table, const Activation& of) {
  const std::string slope = of.name + "_slope";
  const auto slope_along = [slope](R args, const Tensor& t) {
    return record(op_named(slope), {args.in[0], t}, {}, args.where);
  };
  OpInfo row = elementwise_row(composite(of.name, of.formula, 1, real_floats, of.decompose));
  row.derivative.formula = slope + " along dx";
  row.derivative.jvp = [=](R args, std::span<const Tensor> dx) { return slope_along(args, dx[0]); };
  row.derivative.vjp = [=](R args, const Tensor& c, std::size_t) { return slope_along(args, c); };
  row.derivative.pull_back = nullptr;
  table.add(std::move(row));

  OpInfo second = elementwise_row(composite(slope, of.slope_formula, 2, real_floats, of.decompose_slope));
  second.batch = [=](R args, const std::vector<bool>& batched) {
    if (batched[0]) return batch_in_front(args, batched);
    // Many directions at one x: its exponentials are taken once.
    return slope_along(args, ones_like(args.in[0])) * args.in[1];
  };
  table.add(std::move(second));
}

}  // namespace

void register_activations(OpTable& table) {
  add(table, {"swish", "x / (1 + e^(-x))", "t s (1 + x (1 - s)), s = sigmoid x", decompose_swish,
              decompose_swish_slope});
  add(table, {"gelu", "x (1 + erf(x / 2^(1/2))) / 2",
              "t ((1 + erf(x / 2^(1/2))) / 2 + x e^(-x^2 / 2) / (2 pi)^(1/2))", decompose_gelu,
              decompose_gelu_slope});
}

Tensor swish(const Located& x) {
  static const OpInfo& op = op_named("swish");
  return record(op, {x.tensor}, {}, x.where);
}

}  // namespace lodestone::engine
