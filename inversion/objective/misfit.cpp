// SPDX-License-Identifier: Apache-2.0
#include "inversion/objective/misfit.hpp"

#include "engine/core/error.hpp"

#include <cmath>
#include <numbers>
#include <utility>

namespace lodestone::inversion::objective {
namespace {

constexpr const char* component = "inversion::DataMisfit";

/// The angle in (−π, π] that differs by whole turns.
double wrapped(double angle_rad) {
  const double inside = std::remainder(angle_rad, 2.0 * std::numbers::pi);
  return inside <= -std::numbers::pi ? std::numbers::pi : inside;
}

}  // namespace

DataMisfit::DataMisfit(Eigen::VectorXd observed, Eigen::VectorXd sigma, std::vector<std::uint8_t> kept,
                       std::vector<std::uint8_t> is_phase, double huber_threshold)
    : observed_(std::move(observed)), is_phase_(std::move(is_phase)), huber_threshold_(huber_threshold) {
  const auto n = static_cast<std::size_t>(observed_.size());
  if (static_cast<std::size_t>(sigma.size()) != n || kept.size() != n || is_phase_.size() != n)
    throw core::ShapeError(component,
                           "expected observed, sigma, kept and is_phase of one length, got {}, {}, {} and {}",
                           n, sigma.size(), kept.size(), is_phase_.size());
  if (!(huber_threshold >= 0.0) || !std::isfinite(huber_threshold))
    throw core::InvalidArgument(component, "expected a Huber threshold of 0 or more errors, got {}",
                                huber_threshold);
  weights_ = Eigen::VectorXd::Zero(observed_.size());
  for (Eigen::Index i = 0; i < observed_.size(); ++i) {
    if (kept[static_cast<std::size_t>(i)] == 0) continue;
    if (!std::isfinite(observed_[i]) || !std::isfinite(sigma[i]) || !(sigma[i] > 0.0))
      throw core::InvalidArgument(component,
                                  "datum {} is kept, but its value is {} and its sigma {}; mask it or give a "
                                  "finite value and a positive sigma",
                                  i, observed_[i], sigma[i]);
    weights_[i] = 1.0 / sigma[i];
    ++n_kept_;
  }
  if (n_kept_ == 0)
    throw core::InvalidArgument(component, "expected at least one kept datum, got none of {}", n);
}

Eigen::VectorXd DataMisfit::residual(const core::ConstVectorRef& predicted) const {
  if (predicted.size() != size())
    throw core::ShapeError(component, "expected {} predicted data, got {}", size(), predicted.size());
  Eigen::VectorXd residual = Eigen::VectorXd::Zero(size());
  for (Eigen::Index i = 0; i < size(); ++i) {
    if (weights_[i] == 0.0) continue;
    const double difference = observed_[i] - predicted[i];
    residual[i] =
        weights_[i] * (is_phase_[static_cast<std::size_t>(i)] != 0 ? wrapped(difference) : difference);
  }
  return residual;
}

DataMisfit DataMisfit::with_errors_times(double factor) const {
  if (!(factor > 0.0 && std::isfinite(factor)))
    throw core::InvalidArgument("inversion::DataMisfit", "expected a positive factor of the errors, got {}",
                                factor);
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
