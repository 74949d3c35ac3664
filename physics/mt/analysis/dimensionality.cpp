// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/analysis/dimensionality.hpp"

#include "engine/core/median.hpp"
#include "physics/mt/units.hpp"

#include <cmath>
#include <set>
#include <utility>

namespace lodestone::physics::mt {

Dimensionality dimensionality(const MeasuredPhaseTensor& tensor) {
  const auto exceeds = [](double value, double error, double limit) { return value - error > limit; };
  if (!std::isfinite(tensor.error.skew_deg)) return Dimensionality::undetermined;
  if (exceeds(std::abs(tensor.value.skew_deg), tensor.error.skew_deg, most_skew_of_section_deg))
    return Dimensionality::volume;
  const bool is_round =
      !exceeds(tensor.value.ellipticity, tensor.error.ellipticity, most_ellipticity_of_layers);
  return is_round ? Dimensionality::layered : Dimensionality::section;
}

int DimensionalityCounts::n_determined() const { return of[1] + of[2] + of[3]; }

double DimensionalityCounts::share(Dimensionality dimension) const {
  const int n = n_determined();
  return n > 0 ? static_cast<double>(of[static_cast<std::size_t>(dimension)]) / n : 0.0;
}

DimensionalityCounts dimensionality(const std::vector<StationData>& stations, double min_period_s,
                                    double max_period_s) {
  DimensionalityCounts counts;
  std::vector<double> skews_deg;
  const auto count = [&](const std::optional<MeasuredPhaseTensor>& tensor) {
    const Dimensionality dimension = tensor ? dimensionality(*tensor) : Dimensionality::undetermined;
    ++counts.of[static_cast<std::size_t>(dimension)];
    if (tensor) skews_deg.push_back(std::abs(tensor->value.skew_deg));
  };
  const auto is_in = [&](double frequency_hz) {
    return 1.0 / frequency_hz >= min_period_s && 1.0 / frequency_hz < max_period_s;
  };
  for (const StationData& station : stations) {
    std::set<double> of_impedances_hz;
    for (const StationRow& row : station.rows) {
      if (!is_in(row.frequency_hz)) continue;
      const auto tensor = phase_tensor(row);
      if (tensor) of_impedances_hz.insert(row.frequency_hz);
      count(tensor);
    }
    for (const StatedPhaseTensor& each : stated_phase_tensors(station))
      if (is_in(each.frequency_hz) && !of_impedances_hz.contains(each.frequency_hz)) count(each.tensor);
  }
  counts.median_skew_deg = core::median(std::move(skews_deg));
  return counts;
}

Invariants invariants(const Eigen::Matrix2cd& z) {
  const std::array<Complex, 4> zeta{0.5 * (z(0, 0) + z(1, 1)), 0.5 * (z(0, 1) + z(1, 0)),
                                    0.5 * (z(0, 0) - z(1, 1)), 0.5 * (z(0, 1) - z(1, 0))};
  Invariants out;
  out.swift_skew = std::abs(zeta[0]) / std::abs(zeta[3]);
  const auto commutator = [](Complex a, Complex b) { return a.real() * b.imag() - b.real() * a.imag(); };
  // Bahr's sums and differences are twice these parts, and so is the product under the root.
  out.bahr_skew =
      std::sqrt(std::abs(commutator(zeta[2], zeta[1]) - commutator(zeta[0], zeta[3]))) / std::abs(zeta[3]);
  const double i1 = std::hypot(zeta[0].real(), zeta[3].real());
  const double i2 = std::hypot(zeta[0].imag(), zeta[3].imag());
  const auto d = [&](std::size_t i, std::size_t j) {
    return (zeta[i - 1].real() * zeta[j - 1].imag() - zeta[j - 1].real() * zeta[i - 1].imag()) / (i1 * i2);
  };
  const double i5 = (zeta[3].real() * zeta[0].imag() + zeta[0].real() * zeta[3].imag()) / (i1 * i2);
  out.q = std::hypot(d(1, 2) - d(3, 4), d(1, 3) + d(2, 4));
  out.i = {i1,
           i2,
           std::hypot(zeta[1].real(), zeta[2].real()) / i1,
           std::hypot(zeta[1].imag(), zeta[2].imag()) / i2,
           i5,
           d(4, 1),
           (d(4, 1) - d(2, 3)) / out.q};
  return out;
}

DepthEstimate niblett_bostick(double rho_ohm_m, double phase_deg, double period_s) {
  constexpr double right_deg = 90.0;
  const bool is_inside = phase_deg > 0.0 && phase_deg < right_deg;
  return {std::sqrt(rho_ohm_m * period_s / (2.0 * std::numbers::pi * mu0)),
          is_inside ? rho_ohm_m * (right_deg / phase_deg - 1.0) : not_given};
}

}  // namespace lodestone::physics::mt
