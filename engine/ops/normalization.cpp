// SPDX-License-Identifier: Apache-2.0
// Normalisation over axes, the heart of batch and layer norm, and the swish activation.
#include "engine/core/error.hpp"
#include "engine/ops/attributes.hpp"
#include "engine/ops/composite.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/register.hpp"
#include "engine/ops/rules.hpp"
#include "engine/ops/sampler.hpp"

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;

Aval infer_normalize(const InferArgs& args) {
  const Aval& x = args.aval(0);
  for (std::size_t i = 1; i < args.in.size(); ++i) {
    if (!(args.aval(i) == x))
      throw core::ShapeError(args.op.name, "expected equal shapes and dtypes, got {} and {} {}", x.text(), args.aval(i).text(),
                             at_line(args.where));
  }
  for (const Dim axis : args.as<NormalizeAttrs>().axes) {
    if (x.shape[static_cast<int>(axis)] == 0)
      throw core::ShapeError(args.op.name, "expected at least one element along axis {}, got {} {}", axis, x.text(), at_line(args.where));
  }
  return x;
}

Tensor decompose_normalize(R args) {
  const auto& [axes, epsilon] = args.as<NormalizeAttrs>();
  const Tensor centred = args.in[0] - mean(args.in[0], axes, Keep::yes);
  return centred / sqrt(mean(square(centred), axes, Keep::yes) + epsilon);
}

/// r (t − mean t − y mean(t y)), r the reciprocal deviation, y the normalised x: the Jacobian is symmetric, so this is jvp and vjp.
Tensor decompose_slope(R args) {
  const auto& [axes, epsilon] = args.as<NormalizeAttrs>();
  const Tensor &x = args.in[0], &t = args.in[1];
  const Tensor centred = x - mean(x, axes, Keep::yes);
  const Tensor r = reciprocal(sqrt(mean(square(centred), axes, Keep::yes) + epsilon)), y = centred * r;
  return r * (t - mean(t, axes, Keep::yes) - y * mean(t * y, axes, Keep::yes));
}

Tensor batch_normalize(R args, const std::vector<bool>& batched) {
  const auto& [axes, epsilon] = args.as<NormalizeAttrs>();
  const Dim size = batch_size(args, batched);
  Tensors inputs;
  for (std::size_t i = 0; i < args.in.size(); ++i) inputs.push_back(with_batch(args.in[i], batched[i], size));
  return record(args.op, inputs, make_attrs(NormalizeAttrs{shifted(axes), epsilon}), args.where);
}

Sample sample_normalize(Sampler& sampler, int n_inputs) {
  Shape shape = sampler.shape(1, 4);
  Axes axes = sampler.some_axes(shape.rank());
  if (sampler.chance(0.6)) axes = sampler.chance(0.5) ? IntList::counting(shape.rank() - 1) : IntList{shape.rank() - 1};
  for (const Dim axis : axes) shape[static_cast<int>(axis)] = std::max<Dim>(shape[static_cast<int>(axis)], 1);
  Sample sample{{}, make_attrs(NormalizeAttrs{axes, 0.1})};
  for (int i = 0; i < n_inputs; ++i) sample.inputs.push_back(sampler.tensor(shape, -2, 2));
  return sample;
}

Tensor slope(R args, const Tensor& direction) {
  return record(op_named("normalize_slope"), {args.in[0], direction}, args.attrs, args.where);
}

void register_normalize(OpTable& table) {
  OpInfo row =
      composite("normalize", "(x - mean x) / (mean (x - mean x)^2 + epsilon)^(1/2) over the axes", 1, real_floats, decompose_normalize);
  row.infer = infer_normalize;
  row.derivative.formula = "r (dx - mean dx - y mean(y dx)), r the reciprocal deviation";
  row.derivative.jvp = [](R args, std::span<const Tensor> tangents) { return slope(args, tangents[0]); };
  row.derivative.vjp = [](R args, const Tensor& cotangent, std::size_t) { return slope(args, cotangent); };
  row.batch = batch_normalize;
  row.sample = [](Sampler& sampler) { return sample_normalize(sampler, 1); };
  table.add(std::move(row));

  OpInfo second = composite("normalize_slope", "r (t - mean t - y mean(y t)), y = normalize(x), r the reciprocal deviation of x", 2,
                            real_floats, decompose_slope);
  second.infer = infer_normalize;
  second.batch = batch_normalize;
  second.sample = [](Sampler& sampler) { return sample_normalize(sampler, 2); };
  table.add(std::move(second));
}

void register_swish(OpTable& table) {
  const auto like_input = [](const InferArgs& args) { return args.aval(0); };
  const auto sample = [](Sampler& sampler) { return Sample{{sampler.tensor(sampler.shape(0, 4), -3, 3)}, {}}; };
  OpInfo row = composite("swish", "x / (1 + e^(-x))", 1, real_floats, [](R args) { return args.in[0] * sigmoid(args.in[0]); });
  row.infer = like_input;
  row.derivative = by_partials("s (1 + x (1 - s)) dx, s = sigmoid x",
                               {[](R args) { return record(op_named("swish_slope"), {args.in[0]}, {}, args.where); }});
  row.batch = batch_elementwise;
  row.sample = sample;
  table.add(std::move(row));

  OpInfo second = composite("swish_slope", "s (1 + x (1 - s)), s = sigmoid x", 1, real_floats, [](R args) {
    const Tensor s = sigmoid(args.in[0]);
    return s * (1.0 + args.in[0] * (1.0 - s));
  });
  second.infer = like_input;
  second.batch = batch_elementwise;
  second.sample = sample;
  table.add(std::move(second));
}

}  // namespace

void register_normalization(OpTable& table) {
  register_normalize(table);
  register_swish(table);
}

Tensor normalize(const Located& x, const Axes& axes, double epsilon) {
  static const OpInfo& op = op_named("normalize");
  return record(op, {x.tensor}, make_attrs(NormalizeAttrs{counted_axes("normalize", axes, x.tensor.rank(), x.where), epsilon}), x.where);
}

Tensor swish(const Located& x) {
  static const OpInfo& op = op_named("swish");
  return record(op, {x.tensor}, {}, x.where);
}

}  // namespace lodestone::engine
