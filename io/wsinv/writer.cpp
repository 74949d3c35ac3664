// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/text/scan.hpp"
#include "io/wsinv/data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace lodestone::io::wsinv {
namespace {

using physics::mt::Element;
using physics::mt::StationData;
using physics::mt::StationRow;

constexpr double no_error = 1e10;

bool is_same_frequency(double a_hz, double b_hz) {
  return std::abs(a_hz / b_hz - 1.0) <= physics::mt::same_frequency;
}

bool any_has(const std::vector<StationData>& stations, std::initializer_list<Element> elements) {
  return std::ranges::any_of(stations, [&](const StationData& station) {
    return std::ranges::any_of(station.rows, [&](const StationRow& row) {
      return std::ranges::any_of(elements, [&](Element element) { return !row.is_missing(element); });
    });
  });
}

/// Returns the number of responses that holds what there is.
int n_responses(const std::vector<StationData>& stations) {
  const bool has_diagonal = any_has(stations, {Element::zxx, Element::zyy});
  if (!has_diagonal && !any_has(stations, {Element::zxy, Element::zyx}))
    throw core::InvalidArgument("io::wsinv::text_of#nothing_to_write",
                                "expected impedances, got none; a file of WSINV3DMT cannot do without");
  if (any_has(stations, {Element::tzx, Element::tzy})) return 12;
  return has_diagonal ? 8 : 4;
}

/// Returns the frequencies of all stations, each once, highest first.
std::vector<double> frequencies_of(const std::vector<StationData>& stations) {
  std::vector<double> all;
  for (const StationData& station : stations)
    for (const StationRow& row : station.rows) all.push_back(row.frequency_hz);
  std::ranges::sort(all, std::greater<>());
  all.erase(std::unique(all.begin(), all.end(), is_same_frequency), all.end());
  return all;
}

const StationRow* row_at(const StationData& station, double frequency_hz) {
  const auto found = std::ranges::find_if(
      station.rows, [&](const StationRow& row) { return is_same_frequency(row.frequency_hz, frequency_hz); });
  return found == station.rows.end() ? nullptr : &*found;
}

std::string places_text(const std::vector<StationData>& stations, double physics::mt::Station::*place) {
  std::string out;
  for (const StationData& station : stations) out += text::shortest(station.site.*place) + "\n";
  return out;
}

/// Returns the rows of all stations at one frequency: values, or errors.
std::string list_text(const std::vector<StationData>& stations, std::span<const Element> elements,
                      double frequency_hz, bool is_error) {
  std::string out;
  for (const StationData& station : stations) {
    const StationRow* row = row_at(station, frequency_hz);
    for (const Element element : elements) {
      const bool is_there = row != nullptr && !row->is_missing(element);
      const double sigma = is_there ? row->errors[element] : no_error;
      const std::string error = text::shortest(sigma > 0.0 ? sigma : no_error);
      const auto value = is_there ? row->values[element] : physics::mt::Complex{};
      out += is_error ? fmt::format(" {:<24} {:<24}", error, error)
                      : fmt::format(" {:<24} {:<24}", text::shortest(value.real()),
                                    text::shortest(is_there ? -value.imag() : 0.0));
    }
    out += "\n";
  }
  return out;
}

}  // namespace

physics::mt::Written text_of(const std::vector<StationData>& stations) {
  const int n = n_responses(stations);
  const std::span<const Element> elements = elements_of(n);
  const std::vector<double> frequencies = frequencies_of(stations);
  std::string out = fmt::format("{} {} {}\n", stations.size(), frequencies.size(), n);
  out += "Station_Location: N-S\n" + places_text(stations, &physics::mt::Station::x_m);
  out += "Station_Location: E-W\n" + places_text(stations, &physics::mt::Station::y_m);
  for (const char* list : {"DATA_Period", "ERROR_Period"}) {
    for (const double f : frequencies) {
      const std::string period = text::shortest_preimage(f, 1.0 / f, [](double p) { return 1.0 / p; });
      out += fmt::format("{}: {}\n", list, period);
      out += list_text(stations, elements, f, std::string_view(list) == "ERROR_Period");
    }
  }
  std::vector<std::string> lost{"names, latitudes, longitudes and elevations of stations"};
  return {std::move(out), std::move(lost)};
}

}  // namespace lodestone::io::wsinv
