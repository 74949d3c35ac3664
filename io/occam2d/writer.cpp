// SPDX-License-Identifier: Apache-2.0
#include "io/occam2d/data.hpp"
#include "io/occam2d/types.hpp"
#include "io/text/scan.hpp"
#include "physics/mt/holdings.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

namespace lodestone::io::occam2d {
namespace {

using physics::mt::deg_per_rad;
using physics::mt::Observations;

/// Returns the code of a datum; nothing where the format does not hold it.
std::optional<int> code_of(physics::mt::Datum datum) {
  const Type* type = type_of(datum);
  return type == nullptr ? std::nullopt : std::optional(type->code);
}

std::string datum_text(Form form, double value) {
  if (form == Form::as_it_is) return text::shortest(value);
  const double turn = form == Form::phase_te ? 0.0 : value > 0.0 ? -std::numbers::pi : std::numbers::pi;
  const double guess = (value + turn) * deg_per_rad;
  return text::shortest_preimage(value, guess, [form](double written) { return value_of(form, written); });
}

std::string error_text(Form form, double sigma) {
  if (form == Form::as_it_is) return text::shortest(sigma);
  return text::shortest_preimage(sigma, sigma * deg_per_rad,
                                 [form](double error) { return sigma_of(form, 0.0, error); });
}

/// Returns a name without the mark of comments.
std::string site_name(const std::string& name) {
  std::string out = name.empty() ? "site" : name;
  std::ranges::replace(out, '!', '_');
  return out;
}

}  // namespace

std::string text_of(const Observations& data, const std::string& title) {
  const physics::mt::CodedData table =
      physics::mt::coded_data(data, {"io::occam2d::text_of", "Occam2D", code_of});
  std::string out = fmt::format("FORMAT:           OCCAM2MTDATA_1.0\nTITLE:            {}\n", title);
  out += fmt::format("SITES:            {}\n", data.survey.stations.size());
  for (const auto& station : data.survey.stations) out += "   " + site_name(station.name) + "\n";
  out += "OFFSETS (M):\n";
  for (const auto& station : data.survey.stations) out += "   " + text::shortest(station.y_m) + "\n";
  out += fmt::format("FREQUENCIES:      {}\n", data.survey.frequencies_hz.size());
  for (const double frequency : data.survey.frequencies_hz) out += "   " + text::shortest(frequency) + "\n";
  out += fmt::format("DATA BLOCKS:      {}\nSITE  FREQ  TYPE  DATUM  ERROR\n", table.size());
  for (const auto& [place, at] : table) {
    const auto& [station, frequency, code] = place;
    const Form form = type_of(code)->form;
    out += fmt::format("{:<5} {:<5} {:<5} {:<22} {}\n", station + 1, frequency + 1, code,
                       datum_text(form, data.value[at]), error_text(form, data.sigma[at]));
  }
  return out;
}

}  // namespace lodestone::io::occam2d
