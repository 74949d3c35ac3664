// SPDX-License-Identifier: Apache-2.0
#include "dc/analytic.hpp"

#include <cmath>

namespace dc {

double resistivity_transform(const LayeredEarth& earth, double lambda_per_m,
                             Eigen::Ref<Eigen::VectorXd> derivative) {
  const Eigen::Index n = earth.resistivity_ohm_m.size();
  double transform = earth.resistivity_ohm_m[n - 1];
  derivative[n - 1] = transform;
  for (Eigen::Index i = n - 2; i >= 0; --i) {
    const double rho = earth.resistivity_ohm_m[i];
    const double decay =
        std::exp(-2.0 * lambda_per_m * earth.thickness_m[static_cast<std::size_t>(i)]);  // cannot overflow
    const double t = (1.0 - decay) / (1.0 + decay), below = transform;                   // t = tanh(λh)
    const double sum = rho + below * t, one_minus_t2 = 4.0 * decay / ((1.0 + decay) * (1.0 + decay));
    transform = rho * (below + rho * t) / sum;
    derivative.tail(n - 1 - i) *= rho * rho * one_minus_t2 / (sum * sum);
    derivative[i] = rho * t * (below * below + rho * rho + 2.0 * rho * below * t) / (sum * sum);
  }
  return transform;
}

double apparent_resistivity(const Spacing& spacing, double near_ohm, double far_ohm) {
  const double s = spacing.half_ab_m, b = spacing.half_mn_m;
  return (s * s - b * b) / (2.0 * b) * (near_ohm - far_ohm);
}

double two_layer_apparent_resistivity(const Spacing& spacing, double top_ohm_m, double thickness_m,
                                      double bottom_ohm_m) {
  const double k = (bottom_ohm_m - top_ohm_m) / (bottom_ohm_m + top_ohm_m);
  const auto potential = [&](double r) {
    double sum = 1.0 / r, power = k;
    for (int n = 1; std::abs(power) > 1e-17; ++n, power *= k)
      sum += 2.0 * power / std::hypot(r, 2.0 * n * thickness_m);
    return top_ohm_m * sum;
  };
  return apparent_resistivity(spacing, potential(spacing.half_ab_m - spacing.half_mn_m),
                              potential(spacing.half_ab_m + spacing.half_mn_m));
}

}  // namespace dc
