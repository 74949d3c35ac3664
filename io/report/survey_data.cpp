// SPDX-License-Identifier: Apache-2.0
#include "io/report/survey_data.hpp"

#include "physics/mt/analysis/map_periods.hpp"
#include "physics/mt/analysis/phase_tensor.hpp"
#include "physics/mt/selection.hpp"

#include <array>
#include <cmath>

namespace lodestone::io::report {

namespace mt = physics::mt;

namespace {

constexpr double not_positive = 0.0;

/// Adds the phase tensors of the rows as values of their own.
void add_phase_tensors(mt::StationData& station) {
  constexpr std::array data{mt::datum("phase_tensor_xx"), mt::datum("phase_tensor_xy"),
                            mt::datum("phase_tensor_yx"), mt::datum("phase_tensor_yy")};
  for (const mt::StationRow& row : station.rows) {
    const auto tensor = mt::phase_tensor(row);
    if (!tensor) continue;
    for (std::size_t k = 0; k < data.size(); ++k) {
      const auto i = static_cast<Eigen::Index>(k / 2), j = static_cast<Eigen::Index>(k % 2);
      station.readings.push_back({.datum = data[k],
                                  .frequency_hz = row.frequency_hz,
                                  .value = tensor->value.phi(i, j),
                                  .sigma = tensor->error.phi(i, j),
                                  .azimuth_deg = 0.0});
    }
  }
}

/// Returns what stations state, values without errors among it, as nothing is inverted.
ShownData shown(const std::vector<mt::StationData>& stations, Places places) {
  mt::Observations data = mt::stated_data(stations);
  for (std::size_t k = 0; k < data.reason.size(); ++k) {
    const auto row = static_cast<Eigen::Index>(k);
    if (std::isfinite(data.value[row])) data.reason[k] = mt::MaskReason::kept;
    if (!(data.sigma[row] > not_positive)) data.sigma[row] = mt::not_given;
  }
  const auto n = data.value.size();
  return {std::move(data), Eigen::VectorXd::Constant(n, mt::not_given), places};
}

}  // namespace

ShownData sounding_data(const std::vector<mt::StationData>& stations,
                        const std::vector<std::size_t>& chosen) {
  std::vector<mt::StationData> some;
  for (const std::size_t k : chosen) {
    some.push_back(stations[k]);
    some.back().local_frame.reset();
    some.back().site.y_m = static_cast<double>(some.size());  // keeps the order
    add_phase_tensors(some.back());
  }
  return shown(some, Places::map);
}

ShownData line_data(const std::vector<mt::StationData>& stations, const SurveyLine& line, int per_decade) {
  std::vector<mt::StationData> some;
  for (std::size_t k = 0; k < line.stations.size(); ++k) {
    some.push_back(stations[line.stations[k]]);
    some.back().local_frame.reset();
    some.back().site.y_m = line.y_m[k];
  }
  std::vector<double> frequencies;
  for (const double period_s : mt::even_periods(some, per_decade)) frequencies.push_back(1.0 / period_s);
  for (mt::StationData& station : some) {
    station.rows = mt::interpolated(station.rows, frequencies);
    // The axis of strike counts as north from here on.
    mt::rotate_rows(station, line.strike_deg);
    for (mt::StationRow& row : station.rows) row.azimuths = mt::ChannelAzimuths::along(0.0);
    for (mt::Reading& reading : station.readings)
      if (reading.azimuth_deg) *reading.azimuth_deg -= line.strike_deg;
  }
  return shown(some, Places::line);
}

}  // namespace lodestone::io::report
