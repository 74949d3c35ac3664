// SPDX-License-Identifier: Apache-2.0
#include "io/femtic/stations.hpp"

#include "physics/mt/rho_phase.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

namespace lodestone::io::femtic {
namespace {

using physics::mt::Datum;
using physics::mt::Element;
using physics::mt::not_given;
using physics::mt::StationData;
using physics::mt::TimeFactor;

constexpr double switched_off = 9.99e3;  ///< errors from here on take a number out: examples have 9.999e3

constexpr std::array impedances{Element::zxx, Element::zxy, Element::zyx, Element::zyy};
constexpr std::array tippers{Element::tzx, Element::tzy};
constexpr std::array interstation{Element::mxx, Element::mxy, Element::myx, Element::myy};
constexpr std::array phase_tensor{
    physics::mt::datum("phase_tensor_xx"), physics::mt::datum("phase_tensor_xy"),
    physics::mt::datum("phase_tensor_yx"), physics::mt::datum("phase_tensor_yy")};

StationData station_at(const std::string& path, const std::string& name, double x_m, double y_m) {
  StationData station;
  station.site.name = name;
  station.site.x_m = x_m;
  station.site.y_m = y_m;
  station.site.latitude_deg = station.site.longitude_deg = station.site.elevation_m = not_given;
  station.path = path;
  station.format = "FEMTIC data";
  station.local_frame = physics::mt::LocalFrame{};
  return station;
}

/// Adds what a station at the same place has.
void join(StationData& to, const StationData& other) {
  for (const physics::mt::StationRow& row : other.rows) {
    physics::mt::StationRow& there = to.row_at(row.frequency_hz);
    for (const Element element : physics::mt::all_elements) {
      if (row.is_missing(element)) continue;
      there.values[element] = row.values[element];
      there.errors[element] = row.errors[element];
    }
  }
  for (const physics::mt::Reading& reading : other.readings) (void)to.add(reading);
  to.other_names.push_back(other.site.name);
}

}  // namespace

Stations::Stations(std::string path, const physics::mt::Conventions& chosen)
    : path_(std::move(path)), chosen_(chosen) {}

bool Stations::add(int number, Block block, double x_m, double y_m) {
  if (!by_number_.try_emplace(number, entries_.size()).second) return false;
  entries_.push_back({station_at(path_, fmt::format("{}", number), x_m, y_m), block, number, 0});
  return true;
}

void Stations::take(double frequency_hz, std::span<const double> data, std::span<const double> errors) {
  switch (entries_.back().block) {
    case Block::impedance:
      return take_complex(impedances, frequency_hz, data, errors);
    case Block::vertical:
      return take_complex(tippers, frequency_hz, data, errors);
    case Block::horizontal:
      return take_complex(interstation, frequency_hz, data, errors);
    case Block::rho_and_phase:
      return take_rho_and_phase(frequency_hz, data, errors);
    case Block::phase_tensor:
      return take_phase_tensor(frequency_hz, data, errors);
  }
}

void Stations::take_complex(std::span<const Element> elements, double frequency_hz,
                            std::span<const double> data, std::span<const double> errors) {
  physics::mt::StationRow& row = entries_.back().station.row_at(frequency_hz);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const double real = std::abs(errors[2 * i]), imaginary = std::abs(errors[2 * i + 1]);
    const int n_off = (real >= switched_off ? 1 : 0) + (imaginary >= switched_off ? 1 : 0);
    if (n_off > 0) {
      ++(n_off == 2 ? n_off_ : n_half_);
      continue;
    }
    if (!row.is_missing(elements[i])) {
      ++n_repeated_;
      continue;
    }
    if (real != imaginary) ++n_unequal_;
    const double sigma = real == imaginary ? real : std::hypot(real, imaginary) / std::numbers::sqrt2;
    row.values[elements[i]] = {data[2 * i], data[2 * i + 1]};
    row.errors[elements[i]] = sigma > 0.0 ? sigma : not_given;
  }
}

void Stations::take_rho_reading(bool is_xy, double frequency_hz, std::span<const double> datum,
                                std::span<const double> error) {
  const double turn = chosen_.sign == TimeFactor::plus ? 1.0 : -1.0;
  StationData& station = entries_.back().station;
  if (error[0] > 0.0 && datum[0] > 0.0)
    (void)station.add({is_xy ? Datum::log10_rho_xy : Datum::log10_rho_yx, frequency_hz, std::log10(datum[0]),
                       error[0] / (datum[0] * physics::mt::ln10), 0.0});
  if (error[1] > 0.0)
    (void)station.add({is_xy ? Datum::phase_xy : Datum::phase_yx, frequency_hz,
                       std::remainder(turn * datum[1] / physics::mt::deg_per_rad, 2.0 * std::numbers::pi),
                       error[1] / physics::mt::deg_per_rad, 0.0});
}

void Stations::take_rho_and_phase(double frequency_hz, std::span<const double> data,
                                  std::span<const double> errors) {
  for (std::size_t i = 0; i < impedances.size(); ++i) {
    const auto datum = data.subspan(2 * i, 2), error = errors.subspan(2 * i, 2);
    n_excluded_ += (error[0] > 0.0 ? 0 : 1) + (error[1] > 0.0 ? 0 : 1);
    const bool is_diagonal = impedances.at(i) == Element::zxx || impedances.at(i) == Element::zyy;
    if (!is_diagonal) {
      take_rho_reading(impedances.at(i) == Element::zxy, frequency_hz, datum, error);
    } else if (error[0] > 0.0 && error[1] > 0.0) {
      const auto z = physics::mt::impedance_of({datum[0], datum[1], error[0], error[1]}, frequency_hz);
      physics::mt::StationRow& row = entries_.back().station.row_at(frequency_hz);
      row.values[impedances.at(i)] = z.value * physics::mt::ohm_per_field_unit;
      row.errors[impedances.at(i)] = z.sigma * physics::mt::ohm_per_field_unit;
    }
  }
}

void Stations::take_phase_tensor(double frequency_hz, std::span<const double> data,
                                 std::span<const double> errors) {
  for (std::size_t i = 0; i < phase_tensor.size(); ++i) {
    const double sigma = std::abs(errors[i]);
    if (sigma >= switched_off) {
      ++n_off_;
      continue;
    }
    (void)entries_.back().station.add(
        {phase_tensor.at(i), frequency_hz, data[i], sigma > 0.0 ? sigma : not_given, 0.0});
  }
}

void Stations::turn_phase_tensors() {
  std::vector<double*> all;
  int n_negative = 0, n_diagonal = 0;
  for (Entry& entry : entries_) {
    for (physics::mt::Reading& reading : entry.station.readings) {
      if (std::ranges::find(phase_tensor, reading.datum) == phase_tensor.end()) continue;
      all.push_back(&reading.value);
      const bool is_diagonal = reading.datum == phase_tensor.front() || reading.datum == phase_tensor.back();
      n_diagonal += is_diagonal ? 1 : 0;
      n_negative += is_diagonal && reading.value < 0.0 ? 1 : 0;
    }
  }
  turns_tensors_ =
      chosen_.sign == TimeFactor::minus || (chosen_.sign == TimeFactor::vote && 2 * n_negative > n_diagonal);
  if (all.empty()) turns_tensors_ = false;
  if (!turns_tensors_) return;
  for (double* value : all) *value = -*value;
}

void Stations::join_places() {
  std::vector<Entry> joined;
  std::vector<std::vector<Block>> blocks;
  std::vector<std::size_t> at;  // index of the entry that each went to
  for (Entry& entry : entries_) {
    std::size_t i = 0;
    const auto fits = [&] {
      const auto& site = joined[i].station.site;
      return site.x_m == entry.station.site.x_m && site.y_m == entry.station.site.y_m &&
             std::ranges::find(blocks[i], entry.block) == blocks[i].end();
    };
    while (i < joined.size() && !fits()) ++i;
    at.push_back(i);
    if (i == joined.size()) {
      blocks.push_back({entry.block});
      joined.push_back(std::move(entry));
      continue;
    }
    blocks[i].push_back(entry.block);
    join(joined[i].station, entry.station);
    if (entry.reference != 0) joined[i].reference = entry.reference;
    ++n_joined_;
  }
  entries_ = std::move(joined);
  for (auto& [number, index] : by_number_) index = at[index];
}

void Stations::name_references() {
  for (Entry& entry : entries_) {
    if (entry.reference != 0)
      entry.station.site.reference = entries_[by_number_.at(entry.reference)].station.site.name;
  }
}

int Stations::unknown_reference() const {
  const auto is_unknown = [&](const Entry& entry) {
    return entry.reference != 0 && !by_number_.contains(entry.reference);
  };
  const auto found = std::ranges::find_if(entries_, is_unknown);
  return found == entries_.end() ? 0 : found->reference;
}

void Stations::add_remarks(StationData& first) const {
  const auto say = [&](int n, std::string_view text) {
    if (n > 0) first.remarks.push_back(fmt::format("{}: {} {}", path_, n, text));
  };
  first.remarks.insert(first.remarks.end(), remarks_.begin(), remarks_.end());
  say(n_joined_, "stations stand at the places of others, and were joined with them");
  say(n_off_, "values are switched off by an error of 9999; left out");
  say(n_half_, "elements of which one part is switched off by an error of 9999; left out");
  say(n_excluded_, "apparent resistivities and phases are excluded by an error not above 0");
  say(n_unequal_, "elements have two errors; their root mean square was taken for both parts");
  say(n_repeated_, "values are second ones at a frequency; the first were kept");
  say(n_remote_, "stations refer to the magnetic field of another; it was taken as their own");
  if (turns_tensors_)
    first.remarks.push_back(path_ + ": phase tensors are those of exp(-i omega t); their signs were changed");
}

std::vector<StationData> Stations::finish() {
  turn_phase_tensors();
  join_places();
  name_references();
  std::vector<StationData> stations;
  for (Entry& entry : entries_) {
    StationData& station = entry.station;
    station.sort();
    for (const physics::mt::Remark& remark :
         convert(station, chosen_, {TimeFactor::minus, physics::mt::ImpedanceUnits::ohm}))
      station.remarks.push_back(remark.at(path_));
    station.drop_zero_tippers();
    stations.push_back(std::move(station));
  }
  add_remarks(stations.front());
  return stations;
}

}  // namespace lodestone::io::femtic
