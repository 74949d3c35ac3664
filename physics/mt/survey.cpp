// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/survey.hpp"

#include "engine/core/error.hpp"
#include "physics/mt/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace lodestone::physics::mt {
namespace {

constexpr double farthest_m = 1e8;  // the earth is 4e7 m around

void check_distinct_positions(const std::vector<Station>& stations) {
  constexpr double same_place_m = 1e-3;
  std::vector<std::size_t> order(stations.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return stations[a].y_m < stations[b].y_m; });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Station& here = stations[order[i]];
    if (!std::isfinite(here.y_m))
      throw core::InvalidArgument("mt::Survey#no_position", "station {} has no position along the profile",
                                  here.name);
    if (i == 0) continue;
    const Station& before = stations[order[i - 1]];
    if (here.y_m - before.y_m < same_place_m) {
      throw core::InvalidArgument(
          "mt::Survey#same_place",
          "expected stations at different places, but {} and {} both stand at y = {} m; remove one",
          before.name, here.name, here.y_m);
    }
  }
}

}  // namespace

Mode mode_of(Quantity quantity) {
  if (const auto mode = mode_of(rule_of(quantity))) return *mode;
  throw core::InvalidArgument("mt::mode_of#no_single_mode", "expected a datum of one mode, got {}",
                              name_of(quantity));
}

bool is_phase(Quantity quantity) { return rule_of(quantity).turn > 0.0; }

std::string_view name_of(Quantity quantity) { return rule_of(quantity).name; }

std::string_view units_of(Quantity quantity) { return rule_of(quantity).units; }

double floor_of(FloorKind kind, double floor, double modulus) {
  if (kind == FloorKind::impedance) return floor * modulus;
  return kind == FloorKind::phase ? floor / deg_per_rad : floor;
}

double floor_of(const DatumRule& rule, const ErrorFloors& floors, double modulus) {
  switch (rule.floor) {
    case FloorKind::impedance:
      return floor_of(rule.floor, floors.impedance_relative, modulus);
    case FloorKind::log10_rho:
      return floor_of(rule.floor, floors.log10_rho, modulus);
    case FloorKind::phase:
      return floor_of(rule.floor, floors.phase_deg, modulus);
    case FloorKind::tipper:
      return floor_of(rule.floor, floors.tipper_absolute, modulus);
    case FloorKind::phase_tensor:
      return floor_of(rule.floor, floors.phase_tensor_absolute, modulus);
  }
  return 0.0;
}

void Survey::validate() const {
  if (stations.empty())
    throw core::InvalidArgument("mt::Survey#no_station",
                                "the list of stations is empty; select at least one");
  for (const Station& station : stations) {
    if (!(std::abs(station.y_m) <= farthest_m))
      throw core::InvalidArgument("mt::Survey#station_far",
                                  "expected stations within {:.0e} m of the profile's origin, got {} at y = "
                                  "{} m; give positions in m",
                                  farthest_m, station.name, station.y_m);
  }
  check_distinct_positions(stations);
  for (const double f : frequencies_hz) {
    if (!(f > 0.0) || !std::isfinite(f))
      throw core::InvalidArgument("mt::Survey#wrong_frequency", "expected positive frequencies, got {} Hz",
                                  f);
  }
  const int n_frequencies = static_cast<int>(frequencies_hz.size()),
            n_stations = static_cast<int>(stations.size());
  for (const DatumKey& key : keys) {
    if (key.frequency < 0 || key.frequency >= n_frequencies || key.station < 0 || key.station >= n_stations) {
      throw core::ShapeError("mt::Survey#key_outside",
                             "datum key (frequency {}, station {}) is outside {} frequencies and {} stations",
                             key.frequency, key.station, n_frequencies, n_stations);
    }
  }
}

Survey full_survey(std::vector<Station> stations, std::vector<double> frequencies_hz,
                   const std::vector<Quantity>& quantities) {
  Survey survey{std::move(stations), std::move(frequencies_hz), {}};
  survey.keys.reserve(quantities.size() * survey.frequencies_hz.size() * survey.stations.size());
  for (const Quantity quantity : quantities) {
    for (int f = 0; f < static_cast<int>(survey.frequencies_hz.size()); ++f) {
      for (int s = 0; s < static_cast<int>(survey.stations.size()); ++s)
        survey.keys.push_back({quantity, f, s});
    }
  }
  return survey;
}

Eigen::Index ObservedData::n_kept() const { return std::count(mask.begin(), mask.end(), MaskReason::kept); }

ObservedData ObservedData::kept() const {
  const Eigen::Index n = n_kept();
  ObservedData out{
      {survey.stations, survey.frequencies_hz, {}}, Eigen::VectorXd(n), Eigen::VectorXd(n), {}, {}};
  Eigen::Index k = 0;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (mask[i] != MaskReason::kept) continue;
    out.survey.keys.push_back(survey.keys[i]);
    out.value[k] = value[static_cast<Eigen::Index>(i)];
    out.sigma[k] = sigma[static_cast<Eigen::Index>(i)];
    out.mask.push_back(MaskReason::kept);
    out.interpolated.push_back(interpolated[i]);
    ++k;
  }
  return out;
}

core::DataSet data_set(const ObservedData& data) {
  const std::size_t n = data.survey.keys.size();
  core::DataSetParts parts{.observed = data.value,
                           .sigma = data.sigma,
                           .turn = Eigen::VectorXd(data.value.size()),
                           .reasons = {"used", "missing", "out_of_quadrant", "listed", "bad_error"}};
  core::Table::Texts quantity(n), site(n);
  core::Table::Numbers y_m(n), period_s(n), interpolated(n);
  for (std::size_t k = 0; k < n; ++k) {
    const DatumKey& key = data.survey.keys[k];
    const Station& station = data.survey.stations[static_cast<std::size_t>(key.station)];
    parts.turn[static_cast<Eigen::Index>(k)] = rule_of(key.quantity).turn;
    parts.reason.push_back(static_cast<int>(data.mask[k]));
    quantity[k] = name_of(key.quantity);
    site[k] = station.name;
    y_m[k] = station.y_m;
    interpolated[k] = k < data.interpolated.size() ? data.interpolated[k] : 0.0;
    period_s[k] = 1.0 / data.survey.frequencies_hz[static_cast<std::size_t>(key.frequency)];
  }
  parts.key.add_texts("quantity", std::move(quantity));
  parts.key.add_texts("site", std::move(site));
  parts.key.add_numbers("y_m", "m", std::move(y_m));
  parts.key.add_numbers("period_s", "s", std::move(period_s));
  parts.key.add_numbers("interpolated", "", std::move(interpolated));
  return core::DataSet(std::move(parts));
}

}  // namespace lodestone::physics::mt
