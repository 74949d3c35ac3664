// SPDX-License-Identifier: Apache-2.0
// Normalization over axes, the heart of batch and layer norm, and the scale and shift that follow it.
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
  const Aval x = infer_alike(args);
  check_axes(args, args.as<NormalizeAttrs>().axes);
  for (const Dim axis : args.as<NormalizeAttrs>().axes) {
    if (x.shape[static_cast<int>(axis)] == 0)
      throw core::ShapeError(args.op.name + "#empty_axis",
                             "expected at least one element along axis {}, got {} {}", axis, x.text(),
                             at_line(args.where));
  }
  return x;
}

Tensor decompose_normalize(R args) {
  const auto& [axes, epsilon] = args.as<NormalizeAttrs>();
  const Tensor centred = args.in[0] - mean(args.in[0], axes, Keep::yes);
  return centred / sqrt(mean(square(centred), axes, Keep::yes) + epsilon);
}

/// r (t − mean t − y mean(t y)), r the reciprocal deviation, y the normalized x: the Jacobian is symmetric,
/// so this is jvp and vjp.
Tensor decompose_slope(R args) {
  const auto& [axes, epsilon] = args.as<NormalizeAttrs>();
  const Tensor &x = args.in[0], &t = args.in[1];
  const Tensor centred = x - mean(x, axes, Keep::yes);
  const Tensor r = reciprocal(sqrt(mean(square(centred), axes, Keep::yes) + epsilon)), y = centred * r;
  return r * (t - mean(t, axes, Keep::yes) - y * mean(t * y, axes, Keep::yes));
}

/// Returns the row with all that both ops have in common.
OpInfo over_axes(OpInfo row) {
  row.infer = infer_normalize;
  row.op_class = OpClass::reduction;
  row.axes = [](const AxisArgs& args) { return axis_by_axis(args, args.as<NormalizeAttrs>().axes); };
  row.stacks = true;
  return row;
}

Sample sample_normalize(Sampler& sampler, int n_inputs) {
  Shape shape = sampler.shape(1, 4);
  Axes axes = sampler.some_axes(shape.rank());
  if (sampler.chance(0.6))
    axes = sampler.chance(0.5) ? IntList::counting(shape.rank() - 1) : IntList{shape.rank() - 1};
  for (const Dim axis : axes) shape[static_cast<int>(axis)] = std::max<Dim>(shape[static_cast<int>(axis)], 1);
  Sample sample{{}, make_attrs(NormalizeAttrs{axes, 0.5})};
  for (int i = 0; i < n_inputs; ++i) sample.inputs.push_back(sampler.tensor(shape, -2, 2));
  return sample;
}

Tensor slope(R args, const Tensor& direction) {
  return record(op_named("normalize_slope"), {args.in[0], direction}, args.attrs, args.where);
}

void register_normalize(OpTable& table) {
  OpInfo row =
      over_axes(composite("normalize", "(x - mean x) / (mean (x - mean x)^2 + epsilon)^(1/2) over the axes",
                          1, real_floats, decompose_normalize));
  row.derivative.formula = "r (dx - mean dx - y mean(y dx)), r the reciprocal deviation";
  row.derivative.jvp = [](R args, std::span<const Tensor> dx) { return slope(args, dx[0]); };
  row.derivative.vjp = [](R args, const Tensor& c, std::size_t) { return slope(args, c); };  // symmetric
  row.derivative.pull_back = nullptr;
  row.sample = [](Sampler& sampler) { return sample_normalize(sampler, 1); };
  table.add(std::move(row));

  OpInfo second = over_axes(composite(
      "normalize_slope", "r (t - mean t - y mean(y t)), y = normalize(x), r the reciprocal deviation of x", 2,
      real_floats, decompose_slope));
  second.sample = [](Sampler& sampler) { return sample_normalize(sampler, 2); };
  table.add(std::move(second));
}

Aval infer_scale_shift(const InferArgs& args) {
  const Aval& x = args.aval(0);
  for (std::size_t i = 1; i < 3; ++i) {
    if (x.shape.rank() == 0 || !(args.aval(i) == Aval{{x.shape.back()}, x.dtype, x.device}))
      throw core::ShapeError(args.op.name + "#wrong_scale_or_shift",
                             "expected one scale and one shift per channel, the last axis of {}; got {} {}",
                             x.text(), args.aval(i).text(), at_line(args.where));
  }
  return x;
}

Tensor sum_products(const Tensor& a, const Tensor& b, const Axes& axes, std::source_location where) {
  return record(op_named("sum_products"), {a, b}, make_attrs(ReduceAttrs{axes}), where);
}

/// x scale + shift with the slopes of all three, each one pass.
void register_scale_shift(OpTable& table) {
  OpInfo row = composite("scale_shift", "x scale + shift, along the last axis", 3, real_floats,
                         [](R args) { return args.in[0] * args.in[1] + args.in[2]; });
  row.infer = infer_scale_shift;
  row.op_class = OpClass::elementwise;
  row.axes = [](const AxisArgs& args) {
    const int last = args.out.shape.rank() - 1;
    AxisMap map = axis_by_axis(args);
    for (const std::size_t input : {1U, 2U}) map.set(input, 0, same_as(last));
    return map;
  };
  row.derivative.formula = "dx scale + x dscale + dshift";
  row.derivative.pull_back = [](R args, const Tensor& cotangent, const std::vector<bool>& wanted) {
    const Axes leading = IntList::counting(args.in[0].rank() - 1);
    Tensors slopes(3);
    if (wanted[0]) slopes[0] = cotangent * args.in[1];
    if (wanted[1]) slopes[1] = sum_products(args.in[0], cotangent, leading, args.where);
    if (wanted[2]) slopes[2] = sum({cotangent, args.where}, leading);
    return slopes;
  };
  row.sample = [](Sampler& sampler) {
    const Shape shape = sampler.shape(1, 4);
    return Sample{{sampler.tensor(shape, -2, 2), sampler.tensor({shape.back()}, -2, 2),
                   sampler.tensor({shape.back()}, -2, 2)},
                  {}};
  };
  table.add(std::move(row));

  OpInfo sums = composite("sum_products", "S a b over the axes", 2, real_floats,
                          [](R args) { return sum(args.in[0] * args.in[1], args.as<ReduceAttrs>().axes); });
  sums.infer = [](const InferArgs& args) {
    Aval result = infer_alike(args);
    check_axes(args, args.as<ReduceAttrs>().axes);
    for (int axis = result.shape.rank() - 1; axis >= 0; --axis) {
      if (args.as<ReduceAttrs>().axes.contains(axis)) result.shape = result.shape.erased(axis);
    }
    return result;
  };
  sums.op_class = OpClass::reduction;
  sums.axes = [](const AxisArgs& args) {
    return reduced_over(args, args.as<ReduceAttrs>().axes, Combine::sum);
  };
  sums.stacks = true;
  sums.sample = [](Sampler& sampler) {
    const Shape shape = sampler.shape(1, 4);
    const Axes axes =
        sampler.chance(0.5) ? IntList::counting(shape.rank() - 1) : sampler.some_axes(shape.rank());
    return Sample{{sampler.tensor(shape, 0.2, 2), sampler.tensor(shape, 0.2, 2)},
                  make_attrs(ReduceAttrs{axes})};  // of one sign: no cancellation
  };
  table.add(std::move(sums));
}

}  // namespace

void register_normalization(OpTable& table) {
  register_normalize(table);
  register_scale_shift(table);
}

Tensor normalize(const Located& x, const Axes& axes, double epsilon) {
  static const OpInfo& op = op_named("normalize");
  return record(
      op, {x.tensor},
      make_attrs(NormalizeAttrs{counted_axes("normalize", axes, x.tensor.rank(), x.where), epsilon}),
      x.where);
}

Tensor scale_shift(const Located& x, const Located& scale, const Located& shift) {
  static const OpInfo& op = op_named("scale_shift");
  return record(op, {x.tensor, scale.tensor, shift.tensor}, {}, x.where);
}

}  // namespace lodestone::engine
