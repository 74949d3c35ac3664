// SPDX-License-Identifier: Apache-2.0
#include "io/survey/edit.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/options.hpp"
#include "physics/mt/merge.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace lodestone::io::survey {
namespace {

namespace mt = physics::mt;
using mt::Element;
using mt::StationData;
using mt::StationRow;

/// Returns the station of this name. errors: ConfigError with the nearest name there is.
const StationData& station_of(const std::vector<StationData>& stations, const std::string& name) {
  const auto found = std::ranges::find_if(stations, [&](const StationData& s) { return s.has_name(name); });
  if (found != stations.end()) return *found;
  std::vector<std::string> known;
  for (const StationData& station : stations) known.push_back(station.site.name);
  const auto near = core::nearest_word(name, known);
  throw core::ConfigError(
      "io::survey::edited#unknown_site", "expected names of sites, got \"{}\"{}", name,
      near ? fmt::format("; did you mean \"{}\"?", *near) : std::string("; mt_invert info shows them"));
}

std::vector<StationData> chosen(std::vector<StationData> stations, const std::vector<std::string>& names) {
  if (names.empty()) return stations;
  std::vector<StationData> out;
  for (const std::string& name : names) out.push_back(station_of(stations, name));
  return out;
}

void limit_periods(StationData& station, double min_s, double max_s) {
  const auto is_outside = [&](double frequency_hz) {
    return 1.0 / frequency_hz < min_s || 1.0 / frequency_hz > max_s;
  };
  const std::size_t n =
      std::erase_if(station.rows, [&](const StationRow& r) { return is_outside(r.frequency_hz); });
  std::erase_if(station.readings, [&](const mt::Reading& r) { return is_outside(r.frequency_hz); });
  if (n > 0)
    station.changes.push_back(fmt::format("{} periods beyond {:g} to {:g} s were left out", n, min_s, max_s));
}

/// Takes one element out of a row, with its errors and correlations.
void remove(StationRow& row, Element element) {
  row.values[element] = {mt::not_given, mt::not_given};
  row.errors[element] = mt::not_given;
  if (row.covariance) {
    const auto k = static_cast<Eigen::Index>(mt::index_of(element));
    row.covariance->row(k).setConstant(mt::Complex(mt::not_given, 0.0));
    row.covariance->col(k).setConstant(mt::Complex(mt::not_given, 0.0));
  }
}

void mask(StationData& station, const std::vector<mt::Where>& masks) {
  int n = 0;
  for (const mt::Where& where : masks) {
    for (StationRow& row : station.rows) {
      for (const Element element : mt::all_elements) {
        if (row.is_missing(element) || !where.contains(station, mt::real_part_of(element), row.frequency_hz))
          continue;
        remove(row, element);
        ++n;
      }
    }
    n += static_cast<int>(std::erase_if(station.readings, [&](const mt::Reading& each) {
      return where.contains(station, each.datum, each.frequency_hz);
    }));
  }
  if (n > 0) station.changes.push_back(fmt::format("{} values were masked", n));
}

void add_declination(StationData& station, double declination_deg) {
  if (declination_deg == 0.0) return;
  for (StationRow& row : station.rows) {
    mt::ChannelAzimuths& at = row.azimuths;
    for (double* each : {&at.ex_deg, &at.ey_deg, &at.hx_deg, &at.hy_deg, &at.tipper_hx_deg, &at.tipper_hy_deg,
                         &at.local_hx_deg, &at.local_hy_deg, &at.reference_hx_deg, &at.reference_hy_deg})
      *each += declination_deg;
  }
  station.changes.push_back(
      fmt::format("azimuths were counted from magnetic north, {:g} degrees added", declination_deg));
}

void rotate(StationData& station, double azimuth_deg, mt::TurnLoss& loss) {
  if (station.rows.empty()) return;
  const double before_deg = station.rows.front().azimuths.hx_deg;
  const int n_before = loss.n_elements;
  mt::rotate_rows(station, azimuth_deg, loss);
  const int n_lost = loss.n_elements - n_before;
  station.changes.push_back(
      fmt::format("rotated from {:g} to {:g} degrees{}", before_deg, azimuth_deg,
                  n_lost > 0 ? fmt::format(", without {} elements of incomplete tensors", n_lost) : ""));
}

/// Raises errors to a floor; a covariance is widened along with its element.
int raise(StationRow& row, Element element, double floor) {
  double& sigma = row.errors[element];
  if (!(floor > 0.0) || row.is_missing(element) || sigma >= floor) return 0;
  if (row.covariance && sigma > 0.0) {
    const auto k = static_cast<Eigen::Index>(mt::index_of(element));
    row.covariance->row(k) *= floor / sigma;
    row.covariance->col(k) *= floor / sigma;
  }
  sigma = floor;
  row.estimates.reset();  // the errors are no longer those of signal and noise
  return 1;
}

int raise(mt::Reading& reading, double floor) {
  if (!(floor > 0.0) || reading.sigma >= floor) return 0;
  reading.sigma = floor;
  return 1;
}

void apply_floors(StationData& station, const std::vector<mt::FloorRule>& rules) {
  const mt::ErrorFloors floors = mt::general_floors(rules);
  int n = 0;
  for (StationRow& row : station.rows) {
    for (const Element element : mt::all_elements) {
      const mt::DatumRule& rule = mt::rule_of(mt::real_part_of(element));
      n += raise(row, element, mt::floor_of(rule, floors, mt::modulus_of(rule, row.values)));
    }
  }
  for (mt::Reading& reading : station.readings)
    n += raise(reading, mt::floor_of(mt::rule_of(reading.datum), floors, mt::not_given));
  if (n == 0) return;
  std::vector<std::string> named;
  for (const mt::FloorRule& rule : rules)
    named.push_back(fmt::format("{} {:g}", core::word(rule.kind), rule.floor));
  station.changes.push_back(
      fmt::format("errors of {} values were raised to floors: {}", n, fmt::join(named, ", ")));
}

/// Returns the kinds of floors that data of the stations have.
std::set<mt::FloorKind> kinds_of(const std::vector<StationData>& stations) {
  std::set<mt::FloorKind> kinds;
  for (const StationData& station : stations) {
    for (const StationRow& row : station.rows)
      for (const Element element : mt::all_elements)
        if (!row.is_missing(element)) kinds.insert(mt::rule_of(mt::real_part_of(element)).floor);
    for (const mt::Reading& reading : station.readings) kinds.insert(mt::rule_of(reading.datum).floor);
  }
  return kinds;
}

/// Refuses floors of data that no station states.
void require_kinds(const std::vector<StationData>& stations, const std::vector<mt::FloorRule>& floors) {
  const std::set<mt::FloorKind> kinds = kinds_of(stations);
  std::vector<std::string_view> known;
  for (const mt::FloorKind kind : kinds) known.push_back(core::word(kind));
  for (const mt::FloorRule& rule : floors) {
    if (!kinds.contains(rule.kind))
      throw core::ConfigError(
          "io::survey::edited#no_such_data",
          "expected a floor of data that the stations state ({}), got one of {}; state the "
          "floor of what derived data are made of",
          fmt::join(known, ", "), core::word(rule.kind));
  }
}

/// Joins stations of one place; the first notes in its changes which.
std::vector<StationData> joined_places(std::vector<StationData> stations, double within_m) {
  std::vector<StationData> out = mt::merged(std::move(stations), within_m);
  for (StationData& station : out)
    if (!station.other_names.empty())
      station.changes.push_back(fmt::format("merged with {}, which stand within {:g} m",
                                            fmt::join(station.other_names, ", "), within_m));
  return out;
}

bool has_value(const StationData& station) {
  return !station.readings.empty() || std::ranges::any_of(station.rows, [](const StationRow& row) {
    return std::ranges::any_of(mt::all_elements, [&](Element element) { return !row.is_missing(element); });
  });
}

/// Rotates stations and says what that takes from them. errors: InvalidArgument where it leaves nothing.
void rotate(std::vector<StationData>& stations, double azimuth_deg) {
  mt::TurnLoss loss;
  for (StationData& station : stations) rotate(station, azimuth_deg, loss);
  if (!loss.is_any()) return;
  const std::string text = fmt::format("{}; {:g} degrees keep those of that station",
                                       loss.in_words(azimuth_deg), azimuth_deg - loss.turn_deg);
  if (std::ranges::none_of(stations, has_value))
    throw core::InvalidArgument("io::survey::edited#incomplete_tensors", "nothing is left: {}", text);
  core::log::warning(core::log::Id("io::survey::edited#incomplete_tensors"), "{}", text);
}

}  // namespace

std::vector<StationData> edited(std::vector<StationData> stations, const Edits& edits) {
  for (const mt::Where& where : edits.masks)
    if (!where.station.empty()) static_cast<void>(station_of(stations, where.station));
  stations = chosen(std::move(stations), edits.sites);
  for (StationData& station : stations) {
    limit_periods(station, edits.min_period_s, edits.max_period_s);
    mask(station, edits.masks);
    add_declination(station, edits.declination_deg);
  }
  std::erase_if(stations, [](const StationData& s) { return !has_value(s); });
  if (edits.merge_within_m > 0.0) stations = joined_places(std::move(stations), edits.merge_within_m);
  if (edits.azimuth_deg) rotate(stations, *edits.azimuth_deg);
  if (stations.empty())
    throw core::InvalidArgument("io::survey::edited#nothing_left",
                                "expected data between {:g} and {:g} s, got none; widen the periods",
                                edits.min_period_s, edits.max_period_s);
  require_kinds(stations, edits.floors);
  for (StationData& station : stations) apply_floors(station, edits.floors);
  return stations;
}

}  // namespace lodestone::io::survey
