// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/analysis/strike_bands.hpp"

#include "engine/core/parallel.hpp"

#include <fmt/format.h>

#include <cmath>
#include <set>

namespace lodestone::physics::mt {
namespace {

int decade_of(double period_s) {
  constexpr double rounding = 1e-9;
  return static_cast<int>(std::floor(std::log10(period_s) + rounding));
}

StrikeBand band_of(const std::vector<StationData>& stations, int decade) {
  StrikeBand band{.min_period_s = std::pow(10.0, decade), .max_period_s = std::pow(10.0, decade + 1)};
  const StrikeOptions options{.min_period_s = band.min_period_s, .max_period_s = band.max_period_s};
  band.dimension = dimensionality(stations, band.min_period_s, band.max_period_s);
  band.strike = strike_of_data(stations, options);
  band.tipper = tipper_strike(stations, options);
  for (const StationData& station : stations)
    if (auto own = strike_of_data({station}, options); own && own->is_determined())
      band.of_stations.push_back(*std::move(own));
  for (const StationData& station : stations)
    if (const auto own = tipper_strike({station}, options)) band.tippers_of_stations.push_back(*own);
  return band;
}

}  // namespace

std::optional<Strike> strike_of_data(const std::vector<StationData>& stations, const StrikeOptions& options) {
  auto of_impedances = strike(stations, options);
  return of_impedances ? of_impedances : phase_tensor_strike(stations, options);
}

std::vector<StrikeBand> strike_bands(const std::vector<StationData>& stations) {
  std::vector<StationData> north = stations;
  std::set<int> decades;
  for (StationData& station : north) {
    rotate_rows(station, 0.0);
    for (const StationRow& row : station.rows) decades.insert(decade_of(1.0 / row.frequency_hz));
    for (const StatedPhaseTensor& each : stated_phase_tensors(station))
      decades.insert(decade_of(1.0 / each.frequency_hz));
  }
  std::vector<StrikeBand> bands(decades.size());
  const std::vector<int> list(decades.begin(), decades.end());
  core::parallel_for(std::ssize(list), [&](std::ptrdiff_t k) {
    bands[static_cast<std::size_t>(k)] = band_of(north, list[static_cast<std::size_t>(k)]);
  });
  std::erase_if(bands, [](const StrikeBand& band) { return !band.strike && !band.tipper; });
  return bands;
}

std::string in_words(const std::optional<Strike>& strike) {
  if (!strike) return "";
  if (!strike->is_determined()) return "any";
  return fmt::format("{:.0f} or {:.0f} ± {:.0f}", strike->azimuth_deg, strike->azimuth_deg + 90.0,
                     strike->error_deg);
}

}  // namespace lodestone::physics::mt
