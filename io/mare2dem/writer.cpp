// SPDX-License-Identifier: Apache-2.0
#include "io/mare2dem/data.hpp"
#include "io/mare2dem/data_types.hpp"
#include "io/text/scan.hpp"
#include "physics/mt/holdings.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

namespace lodestone::io::mare2dem {
namespace {

using physics::mt::deg_per_rad;
using physics::mt::Observations;
using physics::mt::Station;

/// Returns the code of a datum; nothing where the format does not hold it.
std::optional<int> code_of(physics::mt::Datum datum) {
  const EmDataType* type = emdata_type(datum);
  return type == nullptr ? std::nullopt : std::optional(type->code);
}

std::string value_text(EmDataForm form, double value) {
  if (form == EmDataForm::as_it_is) return text::shortest(value);
  const double turn = form != EmDataForm::phase_tm ? 0.0 : value > 0.0 ? -std::numbers::pi : std::numbers::pi;
  return text::shortest_preimage(value, (value + turn) * deg_per_rad,
                                 [form](double written) { return value_of(form, written); });
}

std::string error_text(EmDataForm form, double sigma) {
  if (form == EmDataForm::as_it_is) return text::shortest(sigma);
  return text::shortest_preimage(sigma, sigma * deg_per_rad, [form](double error) {
    return datum_of(form, {0.0, error}).sigma;
  });
}

/// Returns a name as one word without the marks of comments.
std::string receiver_name(const std::string& name) {
  std::string out = name.empty() ? "site" : name;
  std::ranges::replace_if(
      out, [](char c) { return text::is_blank(c) || c == '!' || c == '%'; }, '_');
  return out;
}

std::string receivers_text(const std::vector<Station>& stations) {
  std::string out = fmt::format(
      "# MT Receivers: {}\n!  X  Y  Z  Theta  Alpha  Beta  Length  SolveStatic  Name\n", stations.size());
  for (const Station& station : stations)
    out +=
        fmt::format(" 0 {} {} 0 0 {} 0 0 {}\n", text::shortest(station.y_m), text::shortest(station.z_m, "0"),
                    text::shortest(station.tilt_deg), receiver_name(station.name));
  return out;
}

}  // namespace

std::string text_of(const Observations& data, const std::string& title) {
  const physics::mt::CodedData table =
      physics::mt::coded_data(data, {"io::mare2dem::text_of", "MARE2DEM", code_of});
  std::string out = fmt::format(
      "Format: EMData_2.2\n! {}\nPhase Convention: lag\n! MT data are those of e^(+iwt) under either\n"
      "Reciprocity Used: no\n# MT Frequencies: {}\n",
      title, data.survey.frequencies_hz.size());
  for (const double frequency : data.survey.frequencies_hz) out += text::shortest(frequency) + "\n";
  out += receivers_text(data.survey.stations);
  out += fmt::format("# Data: {}\n!  Type  Freq#  Tx#  Rx#  Data  StdErr\n", table.size());
  for (const auto& [place, at] : table) {
    const auto& [station, frequency, code] = place;
    const EmDataForm form = emdata_type(code)->form;
    out += fmt::format(" {:<4} {:<4} {:<4} {:<4} {:<24} {}\n", code, frequency + 1, station + 1, station + 1,
                       value_text(form, data.value[at]), error_text(form, data.sigma[at]));
  }
  return out;
}

}  // namespace lodestone::io::mare2dem
