// SPDX-License-Identifier: Apache-2.0
#include "inversion/objective/parameter_maps.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lodestone::inversion::objective {
namespace {

void check_bounds(double lower_log10, double upper_log10) {
  if (!(std::isfinite(lower_log10) && std::isfinite(upper_log10) && lower_log10 < upper_log10))
    throw core::InvalidArgument("inversion::bounds_map#wrong_bounds",
                                "expected finite bounds with lower < upper in log10(ohm m), got {} and {}",
                                lower_log10, upper_log10);
}

/// Returns 1/(1 + e^{−x}), without overflow for any x.
double logistic(double x) {
  return x >= 0.0 ? 1.0 / (1.0 + std::exp(-x)) : std::exp(x) / (1.0 + std::exp(x));
}

}  // namespace

core::MapPtr exp10_map(Eigen::Index size) {
  return core::pointwise(
      "inversion::exp10_map", size, [](double m) { return std::pow(10.0, m); },
      [](double m) { return std::numbers::ln10 * std::pow(10.0, m); });
}

core::MapPtr bounds_map(Eigen::Index size, double lower_log10, double upper_log10) {
  check_bounds(lower_log10, upper_log10);
  const double range = upper_log10 - lower_log10;
  return core::pointwise(
      "inversion::bounds_map", size, [=](double x) { return lower_log10 + range * logistic(x); },
      [=](double x) { return range * logistic(x) * logistic(-x); });
}

Eigen::VectorXd unbounded(const core::ConstVectorRef& log10_resistivity, double lower_log10,
                          double upper_log10) {
  check_bounds(lower_log10, upper_log10);
  const double range = upper_log10 - lower_log10;
  return log10_resistivity.unaryExpr([=](double m) {
    const double share = std::clamp((m - lower_log10) / range, 1e-3, 1.0 - 1e-3);
    return std::log(share / (1.0 - share));
  });
}

}  // namespace lodestone::inversion::objective
