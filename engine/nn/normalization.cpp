// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/normalization.hpp"

#include "engine/nn/checks.hpp"
#include "engine/ops/ops.hpp"

namespace lodestone::engine {

BatchNorm::BatchNorm(Dim channels, InitialValues& initial, const BatchNormOptions& options)
    : options_(options),
      scale_(add_parameter("scale", initial.draw({channels}, constant(1.0)))),
      shift_(add_parameter("shift", initial.draw({channels}, constant(0.0)))),
      running_mean_(add_state("running_mean", initial.draw({channels}, constant(0.0)))),
      running_variance_(add_state("running_variance", initial.draw({channels}, constant(1.0)))) {}

/// Takes the moments of n numbers per channel.
void BatchNorm::update_statistics(const Located& mean, const Located& variance, double n) const {
  const double kept = 1.0 - options_.momentum;
  const DType dtype = variance.tensor.dtype();
  // Computed by ops, so that a plan for batches of any size can compute it again.
  const Tensor count = scalar(n, DType::f64, variance.tensor.device());
  const Tensor taken = cast(options_.momentum * (count / (count - 1.0)), dtype);
  running_mean_.assign(
      {blend(running_mean_.value(), stop_gradient(mean), {kept, options_.momentum}), mean.where});
  running_variance_.assign(
      {kept * running_variance_.value() + taken * stop_gradient(variance), variance.where});
}

Tensor BatchNorm::operator()(const Located& x) const {
  const Dim channels = scale_.aval().shape[0];
  check_channels("BatchNorm", x, channels);
  if (mode() == Mode::evaluation) {
    const Tensor slope = scale_.value() / sqrt(running_variance_.value() + options_.epsilon);
    return scale_shift(x, slope, shift_.value() - running_mean_.value() * slope);
  }
  if (x.tensor.count() < 2 * channels)
    throw core::ShapeError("BatchNorm#too_few_numbers",
                           "expected at least two numbers per channel in training, got {} {}",
                           x.tensor.aval().text(), at_line(x.where));
  const auto [y, mean, variance] = batch_norm(x, scale_.value(), shift_.value(), options_.epsilon);
  update_statistics({mean, x.where}, {variance, x.where},
                    static_cast<double>(x.tensor.count()) / static_cast<double>(channels));
  return y;
}

LayerNorm::LayerNorm(const Shape& shape, InitialValues& initial, const LayerNormOptions& options)
    : options_(options),
      scale_(add_parameter("scale", initial.draw(shape, constant(1.0)))),
      shift_(add_parameter("shift", initial.draw(shape, constant(0.0)))) {}

Tensor LayerNorm::operator()(const Located& x) const {
  const Shape& last = scale_.aval().shape;
  const int first = x.tensor.rank() - last.rank();
  if (first < 0 || !std::equal(last.begin(), last.end(), x.tensor.shape().begin() + first))
    throw core::ShapeError("LayerNorm#wrong_last_axes", "expected an input whose last axes are {}, got {} {}",
                           last.text(), x.tensor.aval().text(), at_line(x.where));
  return normalize(x, IntList::counting(last.rank(), first), options_.epsilon) * scale_.value() +
         shift_.value();
}

GroupNorm::GroupNorm(Dim channels, InitialValues& initial, const GroupNormOptions& options)
    : options_(options),
      scale_(add_parameter("scale", initial.draw({channels}, constant(1.0)))),
      shift_(add_parameter("shift", initial.draw({channels}, constant(0.0)))) {
  if (options.groups < 1 || channels % options.groups != 0)
    throw core::InvalidArgument("GroupNorm#wrong_groups",
                                "expected channels that are a multiple of {} groups, got {}", options.groups,
                                channels);
}

Tensor GroupNorm::operator()(const Located& x) const {
  const Dim channels = scale_.aval().shape[0];
  check_channels("GroupNorm", x, channels);
  const Shape& shape = x.tensor.shape();
  const int last = shape.rank() - 1;
  Shape grouped = shape.inserted(last, options_.groups);
  grouped[last + 1] = channels / options_.groups;
  const Axes axes =
      IntList::counting(last - 1, 1).inserted(last - 1, last + 1);  // space and the channels of the group
  return scale_shift(reshape(normalize(reshape(x, grouped), axes, options_.epsilon), shape), scale_.value(),
                     shift_.value());
}

}  // namespace lodestone::engine
