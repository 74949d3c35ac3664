// SPDX-License-Identifier: Apache-2.0
#include "io/run/residuals.hpp"

#include "engine/core/error.hpp"

#include <cmath>
#include <limits>

namespace lodestone::io::run {

namespace mt = physics::mt;

Eigen::VectorXd normalized_residuals(const mt::ObservedData& data, const Eigen::VectorXd& predicted) {
  const auto n = static_cast<Eigen::Index>(data.survey.keys.size());
  if (data.value.size() != n || data.sigma.size() != n || std::ssize(data.mask) != n ||
      predicted.size() != n) {
    throw core::ShapeError("io::normalized_residuals",
                           "expected {} values, errors, masks and predictions, got {}, {}, {}, {}", n,
                           data.value.size(), data.sigma.size(), data.mask.size(), predicted.size());
  }
  Eigen::VectorXd residual = Eigen::VectorXd::Constant(n, std::numeric_limits<double>::quiet_NaN());
  for (Eigen::Index k = 0; k < n; ++k) {
    const auto at = static_cast<std::size_t>(k);
    if (data.mask[at] != mt::MaskReason::kept || !(data.sigma[k] > 0.0)) {
      continue;
    }
    const mt::DatumRule& rule = mt::rule_of(data.survey.keys[at].quantity);
    residual[k] = mt::difference(rule, data.value[k], predicted[k]) / data.sigma[k];
  }
  return residual;
}

void RmsSum::add(double residual) {
  if (std::isfinite(residual)) {
    sum_ += residual * residual;
    ++count_;
  }
}

double RmsSum::rms() const {
  return count_ > 0 ? std::sqrt(sum_ / static_cast<double>(count_))
                    : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace lodestone::io::run
