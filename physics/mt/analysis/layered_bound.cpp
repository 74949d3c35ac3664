// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/analysis/layered_bound.hpp"

#include "engine/core/error.hpp"
#include "engine/core/median.hpp"
#include "physics/mt/analysis/nonnegative.hpp"
#include "physics/mt/units.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::physics::mt {
namespace {

constexpr double beyond_band = 30.0;
constexpr int poles_per_decade = 8;
constexpr double outlier = 3.0, outlier_over_median = 3.0;

/// Returns λ of the terms, units of ω: 0, where a sheet lies over an insulator, and a dense list.
std::vector<double> poles_for(const std::vector<CurvePoint>& curve) {
  const auto [low, high] = std::ranges::minmax(curve, {}, &CurvePoint::frequency_hz);
  const double first = omega(low.frequency_hz) / beyond_band;
  const double decades = std::log10(omega(high.frequency_hz) * beyond_band / first);
  const int n = static_cast<int>(std::ceil(poles_per_decade * decades));
  std::vector<double> poles{0.0};
  for (int k = 0; k <= n; ++k) poles.push_back(first * std::pow(10.0, k * decades / n));
  return poles;
}

/// The linear system of a curve, in errors: b ≈ A x with x ≥ 0.
struct System {
  Eigen::MatrixXd a;  // real parts of all points, then imaginary ones
  Eigen::VectorXd b;
};
System system_of(const std::vector<CurvePoint>& curve) {
  const std::vector<double> poles = poles_for(curve);
  const auto n = std::ssize(curve), n_terms = std::ssize(poles) + 1;  // the last term is a₀
  System out{Eigen::MatrixXd(2 * n, n_terms), Eigen::VectorXd(2 * n)};
  for (Eigen::Index k = 0; k < n; ++k) {
    const CurvePoint& point = curve[static_cast<std::size_t>(k)];
    const double w = omega(point.frequency_hz);
    const Complex scale = Complex(0.0, w * mu0) / point.sigma;
    const auto set = [&](Eigen::Index column, Complex term) {
      out.a(k, column) = (scale * term).real();
      out.a(n + k, column) = (scale * term).imag();
    };
    for (Eigen::Index j = 0; j + 1 < n_terms; ++j)
      set(j, 1.0 / Complex(poles[static_cast<std::size_t>(j)], w));
    set(n_terms - 1, 1.0);
    out.b[k] = point.impedance.real() / point.sigma;
    out.b[n + k] = point.impedance.imag() / point.sigma;
  }
  return out;
}

/// Returns |observed − best|/(√2 σ) of each point. `left_out`: points that do not count in the best.
std::vector<double> residuals_of(const System& system, const std::vector<std::size_t>& left_out) {
  System counted = system;
  const Eigen::Index n = system.b.size() / 2;
  for (const std::size_t each : left_out) {
    for (const Eigen::Index row : {static_cast<Eigen::Index>(each), n + static_cast<Eigen::Index>(each)}) {
      counted.a.row(row).setZero();
      counted.b[row] = 0.0;
    }
  }
  const Eigen::VectorXd residual = system.b - system.a * nonnegative_least_squares(counted.a, counted.b);
  std::vector<double> out;
  for (Eigen::Index k = 0; k < n; ++k)
    out.push_back(std::hypot(residual[k], residual[n + k]) / std::numbers::sqrt2);
  return out;
}

}  // namespace

LayeredBound layered_bound(const std::vector<CurvePoint>& curve) {
  if (curve.empty()) return {};
  for (const CurvePoint& point : curve)
    if (!(point.frequency_hz > 0.0) || !(point.sigma > 0.0))
      throw core::InvalidArgument("mt::layered_bound#not_positive",
                                  "expected a positive frequency and a positive error, got {} Hz and {} ohm",
                                  point.frequency_hz, point.sigma);
  const System system = system_of(curve);
  LayeredBound out{.residual = residuals_of(system, {})};
  const double limit = std::max(outlier_over_median * core::median(out.residual), outlier);
  for (std::size_t k = 0; k < curve.size(); ++k)
    if (out.residual[k] > limit) out.outliers.push_back(k);
  if (!out.outliers.empty()) out.residual = residuals_of(system, out.outliers);
  std::erase_if(out.outliers,
                [&](std::size_t k) { return out.residual[k] <= outlier; });  // neighbours of one
  double sum = 0.0;
  for (std::size_t k = 0; k < curve.size(); ++k)
    if (!std::ranges::binary_search(out.outliers, k)) sum += out.residual[k] * out.residual[k];
  out.rms = std::sqrt(sum / static_cast<double>(curve.size() - out.outliers.size()));
  return out;
}

}  // namespace lodestone::physics::mt
