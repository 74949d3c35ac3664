// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/analysis/phase_tensor.hpp"

#include "engine/core/random.hpp"
#include "physics/mt/analysis/rotation.hpp"
#include "physics/mt/units.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace lodestone::physics::mt {
namespace {

constexpr int n_draws = 51;
constexpr double share_below = 0.1587, share_above = 0.8413;  // one standard deviation on either side
using Draws = Eigen::Matrix<Complex, 4, n_draws>;

/// Returns complex normal numbers with E|x|² = 1, the same ones at every call.
const Draws& standard_draws() {
  static const Draws draws = [] {
    constexpr std::uint64_t seed = 1;
    const core::Philox random(seed);
    Draws out;
    std::uint64_t index = 0;
    for (Complex& each : out.reshaped()) {
      const double re = random.normal(index++), im = random.normal(index++);
      each = std::numbers::sqrt2 / 2.0 * Complex(re, im);
    }
    return out;
  }();
  return draws;
}

/// Returns L with L Lᴴ = C, also where C is singular.
ImpedanceCovariance root_of(const ImpedanceCovariance& c) {
  if (c.isDiagonal(0.0)) return c.cwiseSqrt();
  const Eigen::SelfAdjointEigenSolver<ImpedanceCovariance> eigen(c);
  const Eigen::Vector4d roots = eigen.eigenvalues().cwiseMax(0.0).cwiseSqrt();
  return eigen.eigenvectors() * roots.asDiagonal();
}

/// Returns an axis between −180° and 180° as one between −90° and 90°.
double as_axis_deg(double angle_deg) {
  constexpr double quarter_deg = 90.0, half_deg = 180.0;
  if (angle_deg > quarter_deg) return angle_deg - half_deg;
  return angle_deg < -quarter_deg ? angle_deg + half_deg : angle_deg;
}

double half_of_middle(std::array<double, n_draws>& values, int n) {
  const auto end = values.begin() + n;
  const auto at = [&](double share) {
    const auto place = values.begin() + static_cast<std::ptrdiff_t>(share * (n - 1) + 0.5);
    std::nth_element(values.begin(), place, end);
    return *place;
  };
  const double below = at(share_below);
  return 0.5 * (at(share_above) - below);
}

/// Returns half the range of the middle 68 % of a number of the draws.
template <class Number>
double deviation(const std::vector<PhaseTensor>& draws, const Number& number) {
  std::array<double, n_draws> values{};
  std::ranges::transform(draws, values.begin(), number);
  return half_of_middle(values, static_cast<int>(draws.size()));
}

PhaseTensor no_errors() {
  return {Eigen::Matrix2d::Constant(not_given), not_given, not_given, not_given, not_given, not_given};
}

PhaseTensor deviations(const PhaseTensor& value, const std::vector<PhaseTensor>& draws) {
  PhaseTensor out;
  for (int k = 0; k < 4; ++k)
    out.phi(k) = deviation(draws, [k](const PhaseTensor& each) { return each.phi(k); });
  out.max = deviation(draws, [](const PhaseTensor& each) { return each.max; });
  out.min = deviation(draws, [](const PhaseTensor& each) { return each.min; });
  out.skew_deg = deviation(draws, [](const PhaseTensor& each) { return each.skew_deg; });
  out.ellipticity = deviation(draws, [](const PhaseTensor& each) { return each.ellipticity; });
  out.azimuth_deg = deviation(
      draws, [&](const PhaseTensor& each) { return as_axis_deg(each.azimuth_deg - value.azimuth_deg); });
  return out;
}

}  // namespace

double PhaseTensor::max_deg() const { return std::atan(max) * deg_per_rad; }
double PhaseTensor::min_deg() const { return std::atan(min) * deg_per_rad; }

std::optional<PhaseTensor> phase_tensor(const Eigen::Matrix2cd& impedance) {
  const Eigen::Matrix2d x = impedance.real();
  if (!(std::abs(x.determinant()) > 0.0)) return {};
  return phase_tensor_of(x.inverse() * impedance.imag());
}

PhaseTensor phase_tensor_of(const Eigen::Matrix2d& phi) {
  PhaseTensor out;
  out.phi = phi;
  const double sum = out.phi(0, 0) + out.phi(1, 1), difference = out.phi(0, 0) - out.phi(1, 1);
  const double symmetric = out.phi(0, 1) + out.phi(1, 0), skew = out.phi(0, 1) - out.phi(1, 0);
  const double half_range = 0.5 * std::hypot(difference, symmetric), middle = 0.5 * std::hypot(sum, skew);
  out.max = middle + half_range;
  out.min = middle - half_range;
  out.ellipticity = half_range / middle;
  const double alpha = 0.5 * std::atan2(symmetric, difference), beta = 0.5 * std::atan2(skew, sum);
  out.skew_deg = beta * deg_per_rad;
  out.azimuth_deg = as_axis_deg((alpha - beta) * deg_per_rad);
  return out;
}

MeasuredPhaseTensor phase_tensor_of(const Eigen::Matrix2d& phi, const Eigen::Matrix2d& sigma, double x_deg) {
  const Eigen::Matrix2d to_north = axes_turned_by(-x_deg);
  const auto north = [&](const Eigen::Matrix2d& each) {
    return phase_tensor_of(Eigen::Matrix2d(to_north * each * to_north.transpose()));
  };
  MeasuredPhaseTensor out{north(phi), no_errors()};
  if (!(sigma.array() > 0.0).all()) return out;
  std::vector<PhaseTensor> draws;
  draws.reserve(n_draws);
  for (int k = 0; k < n_draws; ++k) {
    const Eigen::Vector4d noise = std::numbers::sqrt2 * standard_draws().col(k).real();
    draws.push_back(north(phi + sigma.cwiseProduct(noise.reshaped(2, 2))));
  }
  out.error = deviations(out.value, draws);
  return out;
}

std::vector<StatedPhaseTensor> stated_phase_tensors(const StationData& station) {
  constexpr auto first = static_cast<unsigned>(datum("phase_tensor_xx"));
  struct Found {
    Eigen::Matrix2d phi = Eigen::Matrix2d::Constant(not_given), sigma = phi;
    double x_deg = 0.0;
  };
  std::map<double, Found, std::greater<>> found;
  for (const Reading& reading : station.readings) {
    const unsigned part = static_cast<unsigned>(reading.datum) - first;
    if (static_cast<unsigned>(reading.datum) < first || part > 3) continue;
    Found& at = found[reading.frequency_hz];
    at.phi(part / 2, part % 2) = reading.value;
    at.sigma(part / 2, part % 2) = reading.sigma;
    at.x_deg = reading.azimuth_deg.value_or(0.0);
  }
  std::vector<StatedPhaseTensor> out;
  for (const auto& [frequency_hz, each] : found)
    if (each.phi.allFinite())
      out.push_back({frequency_hz, phase_tensor_of(each.phi, each.sigma, each.x_deg)});
  return out;
}

std::optional<Eigen::Matrix2cd> impedance_of(const StationRow& row) {
  using enum Element;
  for (const Element element : {zxx, zxy, zyx, zyy})
    if (row.is_missing(element)) return {};
  const Elements::Values& f = row.values;
  return Eigen::Matrix2cd{{f[zxx], f[zxy]}, {f[zyx], f[zyy]}};
}

ImpedanceCovariance impedance_covariance(const StationRow& row) {
  return row.full_covariance().topLeftCorner<4, 4>();  // the impedances are the first four elements
}

std::optional<MeasuredPhaseTensor> phase_tensor(const StationRow& row) {
  const StationRow north = rotated(row, 0.0);
  const std::optional<Eigen::Matrix2cd> z = impedance_of(north);
  if (!z) return {};
  const std::optional<PhaseTensor> value = phase_tensor(*z);
  if (!value) return {};
  MeasuredPhaseTensor out{*value, {}};
  const ImpedanceCovariance covariance = impedance_covariance(north);
  if (!covariance.allFinite()) {
    out.error = no_errors();
    return out;
  }
  const Draws noise = root_of(covariance) * standard_draws();
  std::vector<PhaseTensor> draws;
  draws.reserve(n_draws);
  for (int k = 0; k < n_draws; ++k)
    if (const auto draw = phase_tensor(Eigen::Matrix2cd(*z + noise.col(k).reshaped<Eigen::RowMajor>(2, 2))))
      draws.push_back(*draw);
  out.error = deviations(*value, draws);
  return out;
}

}  // namespace lodestone::physics::mt
