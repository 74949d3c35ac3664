// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/selection.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "physics/mt/profile.hpp"
#include "physics/mt/selection_steps.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace lodestone::physics::mt {
namespace {

void check_names(const std::vector<StationData>& stations, const Selection& selection) {
  std::vector<std::string> names;
  for (const StationData& station : stations) {
    names.push_back(station.site.name);
    names.insert(names.end(), station.other_names.begin(), station.other_names.end());
  }
  const auto check = [&](const Where& where, const char* what) {
    if (!where.station.empty())
      (void)index_of_station(names, where.station, "mt::select#unknown_station",
                             where.place.empty() ? what : where.place);
  };
  for (const std::string& name : selection.interpolate_stations)
    (void)index_of_station(names, name, "mt::select#unknown_interpolated", "the interpolation list");
  for (const Where& mask : selection.masks) check(mask, "a mask rule");
  for (const FloorRule& floor : selection.floors) check(floor.where, "an error floor");
}

bool is_of_mode(Datum datum, const std::vector<Mode>& modes) {
  const auto mode = mode_of(rule_of(datum));
  return modes.empty() || (mode && std::find(modes.begin(), modes.end(), *mode) != modes.end());
}

std::vector<Datum> chosen_data(const Selection& selection) {
  std::vector<Datum> data;
  for (const Datum datum : selection.data) {
    if (is_of_mode(datum, selection.modes)) data.push_back(datum);
  }
  if (data.empty())
    throw core::InvalidArgument("mt::select#no_datum",
                                "no datum is selected; name at least one of {} that belongs to the modes",
                                fmt::join(datum_names, ", "));
  return data;
}

void resize(Observations& out) {
  const auto n = static_cast<Eigen::Index>(out.survey.keys.size());
  out.value.resize(n);
  out.sigma_measured.resize(n);
  out.sigma.resize(n);
}

void evaluate(Observations& out, const Selection& selection) {
  resize(out);
  const std::vector<double>& frequencies = out.survey.frequencies_hz;
  std::vector<StationEvaluator> evaluators;
  for (const StationData& station : out.stations) evaluators.emplace_back(station, frequencies, selection);
  int n_beyond = 0;
  for (std::size_t k = 0; k < out.survey.keys.size(); ++k) {
    const auto& [datum, frequency, place] = out.survey.keys[k];
    const StationData& station = out.stations[static_cast<std::size_t>(place)];
    const double f = frequencies[static_cast<std::size_t>(frequency)];
    const Evaluated measured = evaluators[static_cast<std::size_t>(place)].at(datum, f);
    const double sigma = with_floor(measured, datum, station, f, selection);
    const auto i = static_cast<Eigen::Index>(k);
    out.value[i] = measured.value;
    out.sigma_measured[i] = measured.sigma;
    out.sigma[i] = sigma;
    out.reason.push_back(reason_of(measured, sigma, datum, station, f, selection));
    n_beyond += out.reason.back() == MaskReason::kept && is_out_of_quadrant(measured, selection) ? 1 : 0;
    out.interpolated.push_back(measured.interpolated ? 1 : 0);
    out.absent.push_back(selection.frequencies == FrequencyChoice::all && !measured.stated ? 1 : 0);
  }
  if (n_beyond > 0)
    core::log::info("{} data of TE lie out of their quadrant and stay, as they may beside a sea", n_beyond);
}

/// Merges, limits, rotates, chooses frequencies and evaluates. Sets what rotation takes from rows.
Observations observe(const std::vector<StationData>& stations, const Profile& profile,
                     const Selection& selection, TurnLoss& loss) {
  Observations out;
  PlacedStations merged = merged_bands(placed(stations, profile), selection.same_place_m);
  out.stations = std::move(merged.stations);
  out.profile = std::move(merged.profile);
  check_names(out.stations, selection);
  limit_periods(out.stations, selection.min_period_s, selection.max_period_s);
  out.azimuth_deg = selection.strike_deg.value_or(profile.azimuth_deg - 90.0);
  loss = rotate_once(out.stations, out.azimuth_deg, selection.declination_deg);
  std::vector<Station> sites;
  for (const StationData& station : out.stations) sites.push_back(station.site);
  out.survey =
      full_survey(std::move(sites), chosen_frequencies(out.stations, selection), chosen_data(selection));
  evaluate(out, selection);
  return out;
}

/// Says what rotation took from rows. errors: InvalidArgument where it leaves nothing to use.
void treat_loss(const Observations& data, const TurnLoss& loss) {
  if (!loss.is_any() || std::ranges::count(data.reason, MaskReason::missing) == 0) return;
  const double as_in_file_deg = data.azimuth_deg - loss.turn_deg;
  const std::string text =
      loss.in_words(data.azimuth_deg) +
      (data.profile.is_map
           ? fmt::format("; profile.azimuth_deg = {:g} keeps those of that station", as_in_file_deg + 90.0)
           : fmt::format("; profile.strike_deg = {:g} keeps those of that station", as_in_file_deg));
  if (data.n_used() == 0)
    throw core::InvalidArgument("mt::select#incomplete_tensors", "no usable datum is left: {}", text);
  core::log::warning(core::log::Id("mt::select#incomplete_tensors"), "{}", text);
}

/// Returns the data that some station states, in the order of their codes.
std::vector<Datum> data_in(const std::vector<StationData>& stations) {
  std::set<Datum> data;
  const auto add_parts = [&](Element element) {
    for (const Datum datum : {real_part_of(element), partner_of(real_part_of(element))}) data.insert(datum);
  };
  for (const StationData& station : stations) {
    for (const StationRow& row : station.rows) {
      for (const Element element : all_elements) {
        if (!row.is_missing(element)) add_parts(element);
      }
    }
    for (const Reading& reading : station.readings) data.insert(reading.datum);
  }
  return {data.begin(), data.end()};
}

}  // namespace

bool Where::contains(const StationData& of, Datum datum, double frequency_hz) const {
  return (station.empty() || of.has_name(station)) &&
         (data.empty() || std::find(data.begin(), data.end(), datum) != data.end()) &&
         (!mode || mode_of(rule_of(datum)) == mode) && frequency_hz >= min_frequency_hz &&
         frequency_hz <= max_frequency_hz;
}

std::vector<FloorRule> floor_rules(const ErrorFloors& floors) {
  std::vector<FloorRule> rules{{FloorKind::impedance, floors.impedance_relative, {}},
                               {FloorKind::log10_rho, floors.log10_rho, {}},
                               {FloorKind::phase, floors.phase_deg, {}},
                               {FloorKind::tipper, floors.tipper_absolute, {}},
                               {FloorKind::phase_tensor, floors.phase_tensor_absolute, {}},
                               {FloorKind::interstation, floors.interstation_absolute, {}}};
  if (floors.log10_rho_te) rules.push_back({FloorKind::log10_rho, *floors.log10_rho_te, {.mode = Mode::te}});
  return rules;
}

ErrorFloors general_floors(const std::vector<FloorRule>& rules) {
  ErrorFloors floors{0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  for (const FloorRule& rule : rules) {
    const Where all{};
    const Where& where = rule.where;
    if (!where.station.empty() || !where.data.empty() || where.mode == Mode::tm ||
        where.min_frequency_hz != all.min_frequency_hz || where.max_frequency_hz != all.max_frequency_hz)
      continue;
    if (where.mode && rule.kind == FloorKind::log10_rho) floors.log10_rho_te = rule.floor;
    if (where.mode) continue;
    switch (rule.kind) {
      case FloorKind::impedance:
        floors.impedance_relative = rule.floor;
        break;
      case FloorKind::log10_rho:
        floors.log10_rho = rule.floor;
        floors.log10_rho_te.reset();
        break;
      case FloorKind::phase:
        floors.phase_deg = rule.floor;
        break;
      case FloorKind::tipper:
        floors.tipper_absolute = rule.floor;
        break;
      case FloorKind::phase_tensor:
        floors.phase_tensor_absolute = rule.floor;
        break;
      case FloorKind::interstation:
        floors.interstation_absolute = rule.floor;
        break;
    }
  }
  return floors;
}

Observations select(const std::vector<StationData>& stations, const Profile& profile,
                    const Selection& selection) {
  TurnLoss loss;
  Observations out = observe(stations, profile, selection, loss);
  out.survey.validate();
  treat_loss(out, loss);
  require_usable(out);
  out.floors = general_floors(selection.floors);
  return out;
}

// Rows state the parts of elements; whatever else follows from them is not stated.
bool is_derived(const Observations& data, const DatumKey& key) {
  if (is_part(rule_of(key.quantity))) return false;
  const double f = data.survey.frequencies_hz[static_cast<std::size_t>(key.frequency)];
  const std::vector<Reading>& readings = data.stations[static_cast<std::size_t>(key.station)].readings;
  return std::none_of(readings.begin(), readings.end(), [&](const Reading& reading) {
    return reading.datum == key.quantity && std::abs(reading.frequency_hz / f - 1.0) <= same_frequency;
  });
}

Observations stated_data(const std::vector<StationData>& stations) {
  const std::vector<Datum> data = data_in(stations);
  if (data.empty()) return {};
  std::vector<double> y_m;
  for (const StationData& station : stations) y_m.push_back(station.site.y_m);
  constexpr double any_phase_deg = 1e300;
  TurnLoss loss;
  const LocalFrame frame = stations.front().local_frame.value_or(LocalFrame{});
  Observations all = observe(stations, profile_along(std::move(y_m)),
                             {.data = data,
                              .frequencies = FrequencyChoice::all,
                              .frequency_tolerance = same_frequency,
                              .strike_deg = frame.azimuth_deg,
                              .floors = {},
                              .min_phase_deg = -any_phase_deg,
                              .max_phase_deg = any_phase_deg,
                              .same_place_m = 0.0},
                             loss);
  all.sigma = all.sigma_measured;
  for (std::size_t k = 0; k < all.survey.keys.size(); ++k) {
    if (!is_derived(all, all.survey.keys[k])) continue;
    all.value[static_cast<Eigen::Index>(k)] = all.sigma[static_cast<Eigen::Index>(k)] = not_given;
    all.reason[k] = MaskReason::missing;
  }
  return all;
}

}  // namespace lodestone::physics::mt
