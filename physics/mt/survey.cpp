// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/survey.hpp"

#include "engine/core/error.hpp"
#include "physics/mt/ranges.hpp"
#include "physics/mt/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

namespace lodestone::physics::mt {
namespace {

std::string place_of(const Station& station) {
  return station.x_m == 0.0 ? fmt::format("y = {} m", station.y_m)
                            : fmt::format("x = {} m, y = {} m", station.x_m, station.y_m);
}

void check_distinct_positions(const std::vector<Station>& stations) {
  std::vector<std::size_t> order(stations.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return stations[a].y_m < stations[b].y_m; });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Station& here = stations[order[i]];
    if (!std::isfinite(here.y_m) || !std::isfinite(here.x_m))
      throw core::InvalidArgument("mt::Survey#no_position", "station {} has no position along the profile",
                                  here.name);
    for (std::size_t j = i; j-- > 0 && here.y_m - stations[order[j]].y_m < least_distance_m;) {
      const Station& before = stations[order[j]];
      if (std::hypot(here.x_m - before.x_m, here.y_m - before.y_m) >= least_distance_m) continue;
      throw core::InvalidArgument(
          "mt::Survey#same_place",
          "expected stations {:g} m apart or more, but {} stands at {} and {} at {}; remove one",
          least_distance_m, before.name, place_of(before), here.name, place_of(here));
    }
  }
}

}  // namespace

Mode mode_of(Datum datum) {
  if (const auto mode = mode_of(rule_of(datum))) return *mode;
  throw core::InvalidArgument("mt::mode_of#no_single_mode", "expected a datum of one mode, got {}",
                              name_of(datum));
}

bool is_of(Datum datum, Mode mode) {
  return std::ranges::any_of(all_elements, [&](Element element) {
    return rule_of(datum).needs.contains(element) && rule_of(element).mode == mode;
  });
}

bool is_phase(Datum datum) { return rule_of(datum).turn > 0.0; }

std::string_view name_of(Datum datum) { return rule_of(datum).name; }

std::string_view units_of(Datum datum) { return rule_of(datum).units; }

double modulus_of(const DatumRule& rule, const Elements::Values& elements) {
  const auto element = rule.needs.single();
  if (!element) return not_given;
  const bool is_diagonal = *element == Element::zxx || *element == Element::zyy;
  return is_diagonal ? std::sqrt(std::abs(elements[Element::zxy] * elements[Element::zyx]))
                     : std::abs(elements[*element]);
}

double floor_of(FloorKind kind, double floor, double modulus) {
  if (kind == FloorKind::impedance) return floor * modulus;
  return kind == FloorKind::phase ? floor / deg_per_rad : floor;
}

double floor_of(const DatumRule& rule, const ErrorFloors& floors, double modulus) {
  switch (rule.floor) {
    case FloorKind::impedance:
      return floor_of(rule.floor, floors.impedance_relative, modulus);
    case FloorKind::log10_rho:
      return floor_of(
          rule.floor,
          mode_of(rule) == Mode::te ? floors.log10_rho_te.value_or(floors.log10_rho) : floors.log10_rho,
          modulus);
    case FloorKind::phase:
      return floor_of(rule.floor, floors.phase_deg, modulus);
    case FloorKind::tipper:
      return floor_of(rule.floor, floors.tipper_absolute, modulus);
    case FloorKind::phase_tensor:
      return floor_of(rule.floor, floors.phase_tensor_absolute, modulus);
    case FloorKind::interstation:
      return floor_of(rule.floor, floors.interstation_absolute, modulus);
  }
  return 0.0;
}

void Survey::validate() const {
  if (stations.empty())
    throw core::InvalidArgument("mt::Survey#no_station",
                                "the list of stations is empty; select at least one");
  for (const Station& station : stations) {
    if (!(std::abs(station.y_m) <= largest_coordinate_m && std::abs(station.x_m) <= largest_coordinate_m))
      throw core::InvalidArgument(
          "mt::Survey#station_far",
          "expected stations within {:.0e} m of the origin, got {} at {}; give positions in m",
          largest_coordinate_m, station.name, place_of(station));
  }
  check_distinct_positions(stations);
  for (const double f : frequencies_hz) {
    if (!(f > 0.0) || !std::isfinite(f))
      throw core::InvalidArgument("mt::Survey#wrong_frequency", "expected positive frequencies, got {} Hz",
                                  f);
  }
  const std::vector<int> references = references_of(stations);
  const int n_frequencies = static_cast<int>(frequencies_hz.size()),
            n_stations = static_cast<int>(stations.size());
  for (const DatumKey& key : keys) {
    if (key.frequency < 0 || key.frequency >= n_frequencies || key.station < 0 || key.station >= n_stations) {
      throw core::ShapeError("mt::Survey#key_outside",
                             "datum key (frequency {}, station {}) is outside {} frequencies and {} stations",
                             key.frequency, key.station, n_frequencies, n_stations);
    }
    const auto station = static_cast<std::size_t>(key.station);
    if (all_interstation.contains(rule_of(key.quantity).needs) && references[station] < 0)
      throw core::InvalidArgument(
          "mt::Survey#no_reference",
          "expected a reference station for {} of station {}, got none; state one, or "
          "leave the datum out",
          name_of(key.quantity), stations[station].name);
  }
}

std::vector<int> references_of(const std::vector<Station>& stations) {
  std::map<std::string_view, int> places;
  for (std::size_t i = 0; i < stations.size(); ++i) places.emplace(stations[i].name, static_cast<int>(i));
  std::vector<int> references;
  for (const Station& station : stations) {
    const auto found = station.reference.empty() ? places.end() : places.find(station.reference);
    if (found == places.end() && !station.reference.empty())
      throw core::InvalidArgument("mt::references_of#unknown_reference",
                                  "the reference {} of station {} is none of the {} stations; give its place",
                                  station.reference, station.name, stations.size());
    references.push_back(found == places.end() ? -1 : found->second);
  }
  return references;
}

Survey full_survey(std::vector<Station> stations, std::vector<double> frequencies_hz,
                   const std::vector<Datum>& quantities) {
  Survey survey{std::move(stations), std::move(frequencies_hz), {}};
  survey.keys.reserve(quantities.size() * survey.frequencies_hz.size() * survey.stations.size());
  for (const Datum quantity : quantities) {
    for (int f = 0; f < static_cast<int>(survey.frequencies_hz.size()); ++f) {
      for (int s = 0; s < static_cast<int>(survey.stations.size()); ++s) {
        const bool has_reference = !survey.stations[static_cast<std::size_t>(s)].reference.empty();
        if (has_reference || !all_interstation.contains(rule_of(quantity).needs))
          survey.keys.push_back({quantity, f, s});
      }
    }
  }
  return survey;
}

}  // namespace lodestone::physics::mt
