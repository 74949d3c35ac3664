// SPDX-License-Identifier: Apache-2.0
// Batch norm as two rows: values with their moments, and slopes, which take the moments as they are.
#include "engine/core/error.hpp"
#include "engine/ops/attributes.hpp"
#include "engine/ops/composite.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/register.hpp"
#include "engine/ops/rules.hpp"
#include "engine/ops/sampler.hpp"
#include "engine/record/tuple.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;

// Symbols: r = (variance + ε)^(-1/2), y₀ = (x − mean) r, n the numbers per channel.

Axes but_the_last(const Tensor& x) { return IntList::counting(x.rank() - 1); }

double n_per_channel(const Tensor& x) {
  return static_cast<double>(x.count()) / static_cast<double>(std::max<Dim>(x.shape().back(), 1));
}

Tensor reciprocal_deviation(const Tensor& variance, const AttrsPtr& attrs) {
  return reciprocal(sqrt(variance + attrs_as<EpsilonAttrs>(*attrs).epsilon));
}

Aval infer_batch_norm(const InferArgs& args) {
  const Shape& shape = args.aval(0).shape;
  const Dim channels = shape.rank() > 0 ? shape.back() : 0;
  if (shape.rank() < 2 || shape.count() < channels)
    throw core::ShapeError(args.op.name + "#no_numbers",
                           "expected [n, …, channels] with at least one number per channel, got {} {}",
                           args.aval(0).text(), at_line(args.where));
  for (std::size_t i = 1; i < args.in.size(); ++i) {
    const bool is_like_x = i == 4;  // the cotangent
    const Aval expected{is_like_x ? shape : Shape{channels}, args.aval(0).dtype, args.aval(0).device};
    if (!(args.aval(i) == expected))
      throw core::ShapeError(args.op.name + "#wrong_input", "expected {} as input {} for {}, got {} {}",
                             expected.text(), i, args.aval(0).text(), args.aval(i).text(),
                             at_line(args.where));
  }
  return tuple_aval(args.aval(0).device);
}

/// Returns an array like x and two numbers per channel.
std::vector<Aval> results_per_channel(const InferArgs& args) {
  Aval per_channel = args.aval(0);
  per_channel.shape = {args.aval(0).shape.back()};
  return {args.aval(0), per_channel, per_channel};
}

Tensor decompose_batch_norm(R args) {
  const Tensor &x = args.in[0], &scale = args.in[1], &shift = args.in[2];
  const Tensor centre = mean(x, but_the_last(x)), centred = x - centre;
  const Tensor variance = mean(square(centred), but_the_last(x));
  return tuple({centred * reciprocal_deviation(variance, args.attrs) * scale + shift, centre, variance},
               args.where);
}

Tensor decompose_slopes(R args) {
  const Tensor &x = args.in[0], &centre = args.in[1], &variance = args.in[2], &scale = args.in[3],
               &t = args.in[4];
  const double n = n_per_channel(x);
  const Tensor r = reciprocal_deviation(variance, args.attrs), y = (x - centre) * r;
  const Tensor of_shift = sum(t, but_the_last(x)), of_scale = sum(t * y, but_the_last(x));
  return tuple({scale * r * (t - of_shift / n - y * (of_scale / n)), of_scale, of_shift}, args.where);
}

/// Returns the slopes along t in x, scale and shift at the inputs of a batch norm.
Tensors slopes_along(R args, const Tensor& t) {
  static const OpInfo& op = op_named("batch_norm_slopes");
  const Tensor centre = get(args.out, 1, args.where), variance = get(args.out, 2, args.where);
  return elements_of(record(op, {args.in[0], centre, variance, args.in[1], t}, args.attrs, args.where),
                     args.where);
}

/// dy is linear in dx by a symmetric matrix for each channel, that of the slopes; the sums which these take
/// are the tangents of the moments, too.
Tensor batch_norm_jvp(R args, std::span<const Tensor> tangents) {
  const Tensor &x = args.in[0], centre = get(args.out, 1, args.where),
               variance = get(args.out, 2, args.where);
  const Tensor r = reciprocal_deviation(variance, args.attrs);
  Tensor dy, dmean, dvariance;
  if (!is_zero_tangent(tangents[0])) {
    const Tensors slopes = slopes_along(args, tangents[0]);
    const double n = n_per_channel(x);
    dy = slopes[0];
    dmean = slopes[2] / n;
    dvariance = slopes[1] / r * (2.0 / n);
  }
  if (!is_zero_tangent(tangents[1])) dy = add_tangents(dy, (x - centre) * r * tangents[1]);
  if (!is_zero_tangent(tangents[2])) dy = add_tangents(dy, broadcast_to(tangents[2], x.shape()));
  return tuple(tangents_or_zeros(Tensors{dy, dmean, dvariance}, Tensors{x, centre, variance}), args.where);
}

Tensors batch_norm_pull_back(R args, const Tensor& cotangent, const std::vector<bool>&) {
  const Tensor& x = args.in[0];
  const Tensors of = elements_of(cotangent, args.where);  // y, mean, variance
  Tensors result(3);
  if (!is_zero_tangent(of[0])) result = slopes_along(args, of[0]);
  const double n = n_per_channel(x);
  if (!is_zero_tangent(of[1])) result[0] = add_tangents(result[0], broadcast_to(of[1] / n, x.shape()));
  if (!is_zero_tangent(of[2]))
    result[0] = add_tangents(result[0], (x - get(args.out, 1, args.where)) * (of[2] * (2.0 / n)));
  return result;
}

/// Draws a shape with at least one number per channel.
Shape sample_shape(Sampler& sampler) {
  Shape shape = sampler.shape(2, 4);
  for (int axis = 0; axis + 1 < shape.rank(); ++axis) shape[axis] = std::max<Dim>(shape[axis], 1);
  return shape;
}

/// A number per element of the first result in which no two results have the same part.
Tensor all_results(const Tensor& t) { return get(t, 0) * get(t, 1) + get(t, 2); }

Sample sample_batch_norm(Sampler& sampler) {
  const Shape shape = sample_shape(sampler), channels{shape.back()};
  Sample sample{
      {sampler.tensor(shape, -2, 2), sampler.tensor(channels, -2, 2), sampler.tensor(channels, -2, 2)},
      make_attrs(EpsilonAttrs{0.5})};
  sample.finish = all_results;
  return sample;
}

Sample sample_slopes(Sampler& sampler) {
  const Shape shape = sample_shape(sampler), channels{shape.back()};
  Sample sample{
      {sampler.tensor(shape, -2, 2), sampler.tensor(channels, -1, 1), sampler.tensor(channels, 0.5, 2),
       sampler.tensor(channels, -2, 2), sampler.tensor(shape, -2, 2)},
      make_attrs(EpsilonAttrs{0.5})};
  sample.finish = all_results;
  return sample;
}

/// Labels are the axes of x, of which channels alone can be cut; other results have an element per channel.
AxisMap axes_by_channel(const AxisArgs& args) {
  const int last = args.in[0].shape.rank() - 1;
  AxisMap map = axis_by_axis({args.in, args.in[0], args.attrs}, IntList::counting(last));
  for (std::size_t i = 0; i < args.in.size(); ++i) {
    if (args.in[i].shape.rank() == 1) map.set(i, 0, same_as(last));
  }
  map.outputs.resize(3, IntList{last});
  return map;
}

/// Counts operations per element of x.
std::function<double(const InferArgs&, const Aval&)> flops_of(double per_element) {
  return [per_element](const InferArgs& args, const Aval&) {
    return per_element * static_cast<double>(args.aval(0).count());
  };
}

}  // namespace

void register_batch_norm(OpTable& table) {
  OpInfo row =
      composite("batch_norm",
                "(y0 scale + shift, mean, variance), y0 = (x - mean) (variance + epsilon)^(-1/2), moments "
                "over all axes but the last",
                3, real_floats, decompose_batch_norm);
  row.op_class = OpClass::reduction;
  row.axes = axes_by_channel;
  row.infer = infer_batch_norm;
  row.results = results_per_channel;
  row.derivative.formula = "batch_norm_slopes along dx, + y0 dscale + dshift";
  row.derivative.jvp = batch_norm_jvp;
  row.derivative.vjp = nullptr;
  row.derivative.pull_back = batch_norm_pull_back;
  row.flops = flops_of(8.0);
  row.sample = sample_batch_norm;
  table.add(std::move(row));

  OpInfo slopes = composite("batch_norm_slopes",
                            "(scale r (t - S t / n - y0 S(t y0) / n), S(t y0), S t), y0 = (x - mean) r, "
                            "r = (variance + epsilon)^(-1/2)",
                            5, real_floats, decompose_slopes);
  slopes.op_class = OpClass::reduction;
  slopes.axes = axes_by_channel;
  slopes.infer = infer_batch_norm;
  slopes.results = results_per_channel;
  slopes.flops = flops_of(11.0);
  slopes.sample = sample_slopes;
  table.add(std::move(slopes));
}

BatchNormed batch_norm(const Located& x, const Located& scale, const Located& shift, double epsilon) {
  static const OpInfo& op = op_named("batch_norm");
  const Tensor all =
      record(op, {x.tensor, scale.tensor, shift.tensor}, make_attrs(EpsilonAttrs{epsilon}), x.where);
  return {get(all, 0, x.where), get(all, 1, x.where), get(all, 2, x.where)};
}

}  // namespace lodestone::engine
