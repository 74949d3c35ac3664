// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/loss.hpp"

#include "engine/core/error.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/record.hpp"

#include <cmath>
#include <numeric>

namespace lodestone::engine {
namespace {

void check_equal_shapes(std::string_view loss, const Located& predicted, const Tensor& target) {
  if (target.is_valid() && predicted.tensor.shape() == target.shape() &&
      predicted.tensor.dtype() == target.dtype())
    return;
  throw core::ShapeError(
      std::string(loss) + "#target_unlike_prediction", "expected a target like the prediction {}, got {} {}",
      predicted.tensor.aval().text(), target.is_valid() ? target.aval().text() : "an empty tensor",
      at_line(predicted.where));
}

Tensor reduced(const Tensor& terms, Reduction reduction) {
  if (reduction == Reduction::none) return terms;
  return reduction == Reduction::sum ? sum(terms) : mean(terms);
}

/// Weights of a Gaussian window, sum 1. shapes: [window…, 1, 1].
Tensor gaussian_window(const SimilarityOptions& options, DType dtype, Device device) {
  Shape shape = options.window;
  Tensor weights = ones({}, DType::f64, device);
  for (int axis = 0; axis < shape.rank(); ++axis) {
    std::vector<double> line(static_cast<std::size_t>(shape[axis]));
    for (std::size_t i = 0; i < line.size(); ++i)
      line[i] =
          std::exp(-0.5 * std::pow((static_cast<double>(i) - 0.5 * static_cast<double>(shape[axis] - 1)) /
                                       options.deviation,
                                   2));
    const double total = std::accumulate(line.begin(), line.end(), 0.0);
    for (double& each : line) each /= total;
    weights = expand_dims(weights, -1) * Tensor::from(line, {shape[axis]}, device);
  }
  shape.push_back(1);
  shape.push_back(1);
  return cast(reshape(weights, shape), dtype);
}

/// [n, spatial…, c] → [n c, spatial…, 1]: each channel an item of its own.
Tensor channels_as_items(const Tensor& x) {
  const int last = x.rank() - 1;
  const Tensor moved = transpose(x, IntList::counting(last).inserted(1, last));
  Shape shape = moved.shape().erased(0);
  shape[0] *= x.shape()[0];
  shape.push_back(1);
  return reshape(moved, shape);
}

}  // namespace

Tensor mean_squared_error(const Located& predicted, const Tensor& target, Reduction reduction) {
  check_equal_shapes("mean_squared_error", predicted, target);
  return reduced(squared_modulus(predicted.tensor - target), reduction);
}

Tensor mean_absolute_error(const Located& predicted, const Tensor& target, Reduction reduction) {
  check_equal_shapes("mean_absolute_error", predicted, target);
  return reduced(abs(predicted.tensor - target), reduction);
}

Tensor huber_loss(const Located& predicted, const Tensor& target, const HuberOptions& options) {
  check_equal_shapes("huber_loss", predicted, target);
  const Tensor size = abs(predicted.tensor - target);
  const double threshold = options.threshold;
  return reduced(select(less(size, threshold), 0.5 * square(size), threshold * (size - 0.5 * threshold)),
                 options.reduction);
}

Tensor cross_entropy(const Located& logits, const Tensor& target, Reduction reduction) {
  const Tensor log_p = log_softmax(logits);
  Tensor weights = target;
  if (target.is_valid() && integers.contains(target.dtype()))
    weights = one_hot({target, logits.where}, log_p.dim(-1), log_p.dtype());
  check_equal_shapes("cross_entropy", logits, weights);
  return reduced(-sum(weights * log_p, Axes{-1}), reduction);
}

Tensor binary_cross_entropy(const Located& logits, const Tensor& target, Reduction reduction) {
  check_equal_shapes("binary_cross_entropy", logits, target);
  return reduced(softplus(logits) - logits.tensor * target, reduction);
}

Tensor normal_divergence(const Located& mean, const Tensor& log_variance, Reduction reduction) {
  check_equal_shapes("normal_divergence", mean, log_variance);
  return reduced(0.5 * (square(mean) + exp(log_variance) - 1.0 - log_variance), reduction);
}

Tensor normal_divergence(const Normal& from, const Normal& to, Reduction reduction) {
  const Tensor ratio = exp(from.log_variance - to.log_variance),
               shift = square(from.mean - to.mean) * exp(-to.log_variance);
  return reduced(0.5 * (to.log_variance - from.log_variance + ratio + shift - 1.0), reduction);
}

Tensor structural_similarity(const Located& x, const Tensor& y, const SimilarityOptions& options) {
  check_equal_shapes("structural_similarity", x, y);
  const bool is_global = options.window.empty();
  if (!is_global && options.window.size() != x.tensor.rank() - 2)
    throw core::ShapeError("structural_similarity#wrong_rank",
                           "expected inputs [n, spatial…, channels] for a window {}, got {} {}",
                           options.window.text(), x.tensor.aval().text(), at_line(x.where));
  const Tensor a = is_global ? x.tensor : channels_as_items(x.tensor),
               b = is_global ? y : channels_as_items(y);
  const Tensor window = is_global ? Tensor() : gaussian_window(options, x.tensor.dtype(), x.tensor.device());
  const auto local = [&](const Tensor& t) { return is_global ? mean(t) : conv({t, x.where}, window); };
  const Tensor mean_a = local(a), mean_b = local(b);
  // Deviations from one common mean keep the variances exact where both means are large.
  const Tensor centre_a = stop_gradient(is_global ? mean_a : mean(a)),
               centre_b = stop_gradient(is_global ? mean_b : mean(b));
  const Tensor da = a - centre_a, db = b - centre_b, shift_a = mean_a - centre_a, shift_b = mean_b - centre_b;
  const Tensor variance_a = local(square(da)) - square(shift_a),
               variance_b = local(square(db)) - square(shift_b);
  const Tensor covariance = local(da * db) - shift_a * shift_b;
  const auto& [_, deviation, c1, c2] = options;
  return mean((2.0 * mean_a * mean_b + c1) * (2.0 * covariance + c2) /
              ((square(mean_a) + square(mean_b) + c1) * (variance_a + variance_b + c2)));
}

Tensor accuracy(const Located& logits, const Tensor& labels) {
  const Tensor classes = cast(argmax(logits, -1), labels.dtype());
  check_equal_shapes("accuracy", {classes, logits.where}, labels);
  return mean(cast(equal(classes, labels),
                   core::is_real_float(logits.tensor.dtype()) ? logits.tensor.dtype() : DType::f32));
}

}  // namespace lodestone::engine
