// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/jones/jones.hpp"
#include "io/text/scan.hpp"
#include "physics/mt/conventions.hpp"
#include "physics/mt/holdings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lodestone::io::jones {
namespace {

using physics::mt::Element;
using physics::mt::StationData;
using physics::mt::StationRow;

constexpr std::string_view missing = "-999.0";

std::string column(double value) { return fmt::format(" {:>12}", text::shortest(value, missing)); }

/// Returns the period in s, or the frequency in Hz with a minus. The frequency stands where no period gives
/// it back, and where it is the shorter text, unless that is the filler.
std::string time_column(double frequency_hz) {
  const double period_s = 1.0 / frequency_hz;
  const std::string as_frequency = text::shortest(-frequency_hz), as_period = text::shortest(period_s);
  const bool is_shorter = as_period.size() < as_frequency.size() || as_frequency == "-999";
  return fmt::format("{:>12}", is_shorter && 1.0 / period_s == frequency_hz ? as_period : as_frequency);
}

std::string row_of(const StationRow& row, Element element) {
  std::string out = time_column(row.frequency_hz);
  if (row.is_missing(element))
    return out + std::string(column(NAN)) + column(NAN) + column(NAN) + column(1.0);
  const auto in_file = [&](double value) {
    return is_impedance(element) ? physics::mt::in_field_units(value) : value;
  };
  const physics::mt::Complex value = row.values[element];
  return out + column(in_file(value.real())) + column(in_file(value.imag())) +
         column(in_file(row.errors[element])) + column(1.0);
}

/// Names that begin like an entry or a comment get a letter in front.
bool looks_like_entry(const std::string& name) { return name.starts_with('#') || name.starts_with('>'); }

std::string head_of(const StationData& station, double azimuth_deg) {
  const auto& site = station.site;
  return fmt::format(
      "# impedances in mV/km/nT, time factor exp(+i omega t)\n>LATITUDE  = {}\n>LONGITUDE = {}\n>ELEVATION = "
      "{}\n>AZIMUTH   = {}\n{}{} {}\n",
      text::shortest(site.latitude_deg, ""), text::shortest(site.longitude_deg, ""),
      text::shortest(site.elevation_m, ""), text::shortest(azimuth_deg),
      looks_like_entry(site.name) ? "_" : "", site.name, text::shortest(azimuth_deg));
}

}  // namespace

physics::mt::Written text_of(const StationData& station) {
  std::vector<std::string> lost = not_held(station, {});
  if (!station.remote_reference.empty()) lost.emplace_back("remote reference");
  if (looks_like_entry(station.site.name)) lost.emplace_back("name (a letter was put in front)");
  StationData framed = station;
  if (std::string turned = put_in_one_frame(framed.rows, true); !turned.empty())
    lost.push_back(std::move(turned));
  std::string blocks;
  for (const Element element : physics::mt::all_elements) {
    const auto has_value = [element](const StationRow& row) { return !row.is_missing(element); };
    if (is_interstation(element) || std::ranges::none_of(framed.rows, has_value)) continue;
    blocks += text::upper(rule_of(element).name) + (is_impedance(element) ? " FIELD\n" : "\n");
    blocks += fmt::format("{}\n", framed.rows.size());
    for (const StationRow& row : framed.rows) blocks += row_of(row, element) + "\n";
  }
  if (blocks.empty())
    throw core::InvalidArgument("io::jones::text_of#nothing_to_write",
                                "station {}: expected impedances or tippers, got none; a J-format file holds "
                                "nothing else",
                                station.site.name);
  return {head_of(framed, framed.rows.front().azimuths.hx_deg) + blocks, std::move(lost)};
}

}  // namespace lodestone::io::jones
