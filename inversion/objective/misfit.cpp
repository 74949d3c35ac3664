// SPDX-License-Identifier: Apache-2.0
#include "inversion/objective/misfit.hpp"

#include "engine/core/error.hpp"

#include <cmath>

namespace lodestone::inversion::objective {
DataMisfit::DataMisfit(const core::DataSet& data, double huber_threshold)
    : observed_(data.observed()),
      weights_(Eigen::VectorXd::Zero(data.size())),
      turn_(data.turn()),
      n_kept_(data.n_used()),
      huber_threshold_(huber_threshold) {
  if (!(huber_threshold >= 0.0) || !std::isfinite(huber_threshold))
    throw core::InvalidArgument("inversion::DataMisfit#wrong_threshold",
                                "expected a Huber threshold of 0 or more errors, got {}", huber_threshold);
  if (n_kept_ == 0)
    throw core::InvalidArgument("inversion::DataMisfit#no_datum",
                                "none of the {} data is kept; widen the selection or lift masks",
                                data.size());
  for (Eigen::Index i = 0; i < size(); ++i) {
    if (data.is_used(i)) weights_[i] = 1.0 / data.sigma()[i];
  }
}

Eigen::VectorXd DataMisfit::residual(const core::ConstVectorRef& predicted) const {
  if (predicted.size() != size())
    throw core::ShapeError("inversion::DataMisfit#wrong_predicted", "expected {} predicted data, got {}",
                           size(), predicted.size());
  Eigen::VectorXd residual = Eigen::VectorXd::Zero(size());
  for (Eigen::Index i = 0; i < size(); ++i) {
    if (weights_[i] == 0.0) continue;
    residual[i] = weights_[i] * core::wrapped(observed_[i] - predicted[i], turn_[i]);
  }
  return residual;
}

DataMisfit DataMisfit::with_errors_times(double factor) const {
  if (!(factor > 0.0 && std::isfinite(factor)))
    throw core::InvalidArgument("inversion::DataMisfit#wrong_factor",
                                "expected a positive factor of the errors, got {}", factor);
  DataMisfit scaled = *this;
  scaled.weights_ /= factor;
  scaled.huber_threshold_ /= factor;
  return scaled;
}

double DataMisfit::rms(const core::ConstVectorRef& predicted) const {
  const Eigen::VectorXd r = residual(predicted);
  const double c = huber_threshold_;
  const double sum = c > 0.0 ? r.unaryExpr([c](double v) {
                                  return std::abs(v) > c ? 2.0 * c * std::abs(v) - c * c : v * v;
                                }).sum()
                             : r.squaredNorm();
  return std::sqrt(sum / static_cast<double>(n_kept_));
}

Eigen::VectorXd DataMisfit::root_weights(const core::ConstVectorRef& predicted) const {
  const double c = huber_threshold_;
  if (c == 0.0) return Eigen::VectorXd::Ones(size());
  return residual(predicted).unaryExpr(
      [c](double r) { return std::abs(r) > c ? std::sqrt(c / std::abs(r)) : 1.0; });
}

}  // namespace lodestone::inversion::objective
