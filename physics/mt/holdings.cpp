// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/holdings.hpp"

#include "engine/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lodestone::physics::mt {
namespace {

bool shares_noise(const SignalAndNoise& known) {
  return std::ranges::any_of(std::array{0, 1}, [&](int e) { return std::abs(known.noise(e, 2)) > 0.0; });
}

bool is_same(const ChannelAzimuths& a, const ChannelAzimuths& b) {
  return a.ex_deg == b.ex_deg && a.ey_deg == b.ey_deg && a.hx_deg == b.hx_deg && a.hy_deg == b.hy_deg &&
         a.tipper_hx_deg == b.tipper_hx_deg && a.tipper_hy_deg == b.tipper_hy_deg;
}

}  // namespace

std::vector<std::string> not_held(const StationData& station, const Holdings& holdings) {
  std::vector<std::string> lost;
  const auto any = [&](const auto& is) { return std::ranges::any_of(station.rows, is); };
  const auto lacks = [&](bool held, bool there, const char* what) {
    if (!held && there) lost.emplace_back(what);
  };
  lacks(holdings.interstation, any([](const StationRow& row) {
          return std::ranges::any_of(all_elements,
                                     [&](Element e) { return is_interstation(e) && !row.is_missing(e); });
        }),
        "inter-station transfer functions");
  lacks(holdings.covariance || holdings.estimates,
        any([](const StationRow& row) { return row.covariance.has_value(); }),
        "correlations of the errors of elements");
  if (holdings.estimates && !holdings.covariance) {
    lacks(false, any([](const StationRow& row) { return row.covariance && !row.estimates; }),
          "correlations of the errors of elements that no signal and noise are known for");
    lacks(false, any([](const StationRow& row) { return row.estimates && shares_noise(*row.estimates); }),
          "noise that E and Hz share");
  }
  lacks(holdings.readings, !station.readings.empty(), "data other than impedances and tippers");
  lacks(holdings.local_places, station.local_frame.has_value(), "coordinates x and y");
  lacks(false, station.n_masked() > 0, "masked values, which only a survey file keeps");
  lacks(false, !station.other_names.empty(), "names of stations that were merged");
  return lost;
}

std::string put_in_one_frame(std::vector<StationRow>& rows, bool perpendicular) {
  if (rows.empty()) return {};
  const ChannelAzimuths first = rows.front().azimuths, along = ChannelAzimuths::along(first.hx_deg);
  const ChannelAzimuths& wanted = perpendicular ? along : first;
  const bool shares_inputs = first.tipper_hx_deg == first.hx_deg && first.tipper_hy_deg == first.hy_deg;
  const auto stands_there = [&](const StationRow& row) { return is_same(row.azimuths, wanted); };
  if (shares_inputs && std::ranges::all_of(rows, stands_there)) return {};
  for (StationRow& row : rows) row = rotated(row, first.hx_deg);
  return fmt::format(
      "channels that differ between periods or fields, or are not perpendicular: all were turned "
      "to {} degrees",
      first.hx_deg);
}

CodedData coded_data(const Observations& data, const FormatCodes& codes) {
  CodedData rows;
  for (std::size_t i = 0; i < data.survey.keys.size(); ++i) {
    const DatumKey& key = data.survey.keys[i];
    if (data.reason[i] != MaskReason::kept) continue;
    const std::optional<int> code = codes.code_of(key.quantity);
    if (!code)
      throw core::InvalidArgument(codes.component + "#no_type", "{} has no type for {}; leave these data out",
                                  codes.format, name_of(key.quantity));
    const auto at = static_cast<Eigen::Index>(i);
    if (!(data.sigma[at] > 0.0))
      throw core::InvalidArgument(
          codes.component + "#no_error", "expected an error above 0 of {} at station {}, got {}; mask it",
          name_of(key.quantity), data.survey.stations[static_cast<std::size_t>(key.station)].name,
          data.sigma[at]);
    rows[{key.station, key.frequency, *code}] = at;
  }
  if (rows.empty())
    throw core::InvalidArgument(codes.component + "#no_datum",
                                "expected at least one datum with an error that {} holds, found none",
                                codes.format);
  return rows;
}

}  // namespace lodestone::physics::mt
