// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/analysis/sounding_bands.hpp"

#include "engine/core/median.hpp"
#include "physics/mt/analysis/dimensionality.hpp"
#include "physics/mt/units.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace lodestone::physics::mt {
namespace {

/// The numbers of all tensors of a band.
struct Numbers {
  std::vector<double> log10_rho_det, phase_det_deg, log10_rho_ssq, phase_ssq_deg, depth_m, swift, bahr;
  std::array<std::vector<double>, 7> weaver;
};

void add(const StationRow& row, const Eigen::Matrix2cd& z, Numbers& to) {
  const double omega = 2.0 * std::numbers::pi * row.frequency_hz;
  const auto value = [&](Datum of) { return rule_of(of).value(row.values, omega); };
  const double log10_rho = value(datum("log10_rho_det")), phase_deg = value(datum("phase_det")) * deg_per_rad;
  to.log10_rho_det.push_back(log10_rho);
  to.phase_det_deg.push_back(phase_deg);
  to.log10_rho_ssq.push_back(value(datum("log10_rho_ssq")));
  to.phase_ssq_deg.push_back(value(datum("phase_ssq")) * deg_per_rad);
  const double depth_m =
      niblett_bostick(std::pow(10.0, log10_rho), phase_deg, 1.0 / row.frequency_hz).depth_m;
  if (std::isfinite(depth_m)) to.depth_m.push_back(depth_m);
  const Invariants found = invariants(z);
  to.swift.push_back(found.swift_skew);
  to.bahr.push_back(found.bahr_skew);
  for (std::size_t k = 0; k < found.i.size(); ++k) to.weaver[k].push_back(found.i[k]);
}

/// Returns the number that this share of the others is below.
double quantile(std::vector<double>& values, double share) {
  if (values.empty()) return not_given;
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

SoundingBand band_of(int decade, Numbers& numbers) {
  constexpr double tenth = 0.1;
  SoundingBand out{.min_period_s = std::pow(10.0, decade), .max_period_s = std::pow(10.0, decade + 1)};
  out.n_tensors = static_cast<int>(numbers.log10_rho_det.size());
  out.rho_det_ohm_m = std::pow(10.0, core::median(numbers.log10_rho_det));
  out.phase_det_deg = core::median(numbers.phase_det_deg);
  out.rho_ssq_ohm_m = std::pow(10.0, core::median(numbers.log10_rho_ssq));
  out.phase_ssq_deg = core::median(numbers.phase_ssq_deg);
  out.shallow_m = quantile(numbers.depth_m, tenth);
  out.deep_m = quantile(numbers.depth_m, 1.0 - tenth);
  out.swift_skew = core::median(numbers.swift);
  out.bahr_skew = core::median(numbers.bahr);
  for (std::size_t k = 0; k < out.weaver.size(); ++k) out.weaver[k] = core::median(numbers.weaver[k]);
  return out;
}

}  // namespace

std::vector<SoundingBand> sounding_bands(const std::vector<StationData>& stations) {
  constexpr double rounding = 1e-9;
  std::map<int, Numbers> decades;
  for (const StationData& station : stations)
    for (const StationRow& row : station.rows)
      if (const auto z = impedance_of(row); z && z->squaredNorm() > 0.0)
        add(row, *z, decades[static_cast<int>(std::floor(std::log10(1.0 / row.frequency_hz) + rounding))]);
  std::vector<SoundingBand> bands;
  for (auto& [decade, numbers] : decades) bands.push_back(band_of(decade, numbers));
  return bands;
}

}  // namespace lodestone::physics::mt
