// SPDX-License-Identifier: Apache-2.0
#include "io/edi/sections.hpp"
#include "io/text/scan.hpp"

#include <array>
#include <cmath>
#include <filesystem>
#include <optional>

namespace lodestone::io::edi {
namespace {

using physics::mt::not_given;

/// Takes the letter N, S, E or W off the front or the end of a word and returns −1 for S and W. A letter
/// inside is left, as the E of an exponent.
double take_hemisphere(std::string_view& word) {
  const auto is_one_of = [](char c, std::string_view letters) { return letters.find(c) != letters.npos; };
  const bool at_end = !word.empty() && is_one_of(word.back(), "NSEWnsew");
  if (!at_end && (word.empty() || !is_one_of(word.front(), "NSEWnsew"))) return 1.0;
  const char letter = at_end ? word.back() : word.front();
  at_end ? word.remove_suffix(1) : word.remove_prefix(1);
  return is_one_of(letter, "SWsw") ? -1.0 : 1.0;
}

/// Reads "D:M:S", "D:M" or decimal degrees (also 2.5E+01), with a leading sign or a trailing or leading N S E
/// W.
std::optional<double> angle_deg(std::string_view text) {
  std::string packed;
  for (const char c : text) packed += text::is_blank(c) ? std::string() : std::string(1, c);
  std::string_view rest = packed;
  double sign = take_hemisphere(rest);
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) {  // "-0:30:00" is half a degree south
    sign = rest.front() == '-' ? -sign : sign;
    rest.remove_prefix(1);
  }
  double degrees = 0.0, unit = 1.0;
  while (true) {
    const auto colon = rest.find(':');
    const auto part = text::number(rest.substr(0, colon));
    if (!part || !std::isfinite(*part) || *part < 0.0 || unit < 1.0 / 3600.0 - 1e-9) return std::nullopt;
    degrees += *part * unit;
    if (colon == std::string_view::npos) return sign * degrees;
    unit /= 60.0;
    rest.remove_prefix(colon + 1);
  }
}

using Entries = std::map<std::string, std::string>;

std::string entry(const Entries& entries, const std::vector<std::string>& keys) {
  for (const auto& key : keys) {
    const auto found = entries.find(key);
    if (found != entries.end() && !found->second.empty()) return found->second;
  }
  return {};
}

double coordinate(EdiFile& file, int line, const std::string& text, const char* what, double largest) {
  if (text.empty()) return not_given;
  const auto value = angle_deg(text);
  if (!value || std::abs(*value) > largest) {
    file.warn(line,
              std::string(what) + " \"" + text::printable(text) + "\" is not an angle; taken as unknown");
    return not_given;
  }
  return *value > 180.0 ? *value - 360.0 : *value;
}

std::string name_of(const EdiFile& file, const Entries& head) {
  std::string name = entry(head, {"DATAID"});
  for (const auto& block : file.blocks) {
    if (name.empty() && block.is_section && block.name != "DEFINEMEAS")
      name = entry(block.entries(), {"SECTID"});
  }
  return name.empty() ? std::filesystem::path(file.path).stem().string() : name;
}

double elevation_m(EdiFile& file, int line, const Entries& head, const Entries& measurements) {
  constexpr double metres_per_foot = 0.3048;
  const std::string text =
      entry(head, {"ELEV"}).empty() ? entry(measurements, {"REFELEV"}) : entry(head, {"ELEV"});
  if (text.empty()) return not_given;
  const auto value = text::number(text);
  if (!value || !std::isfinite(*value) || std::abs(*value) > 1e5) {
    file.warn(line, "elevation \"" + text::printable(text) + "\" is not a length; taken as unknown");
    return not_given;
  }
  return text::equals_ignoring_case(entry(head, {"UNITS"}), "FT") ? *value * metres_per_foot : *value;
}

}  // namespace

double EdiEmpty::operator()(double value) const {
  constexpr double never_a_measurement = 1e30;
  const bool is_empty =
      !std::isfinite(value) || std::abs(value) >= never_a_measurement ||
      (empty_ != 0.0 && std::abs(std::abs(value) - std::abs(empty_)) <= 1e-6 * std::abs(empty_));
  return is_empty ? not_given : value;
}

EdiHead read_edi_head(EdiFile& file) {
  const EdiBlock* head_block = file.find("HEAD");
  const EdiBlock* measurements_block = file.find("DEFINEMEAS");
  const Entries head = head_block ? head_block->entries() : Entries{};
  const Entries measurements = measurements_block ? measurements_block->entries() : Entries{};
  const int line = head_block ? head_block->line : 1;
  if (!head_block) file.warn(1, "no >HEAD block");
  EdiHead out;
  out.name = name_of(file, head);
  const std::string latitude = entry(head, {"LAT", "LATITUDE"}),
                    longitude = entry(head, {"LONG", "LON", "LONGITUDE"});
  out.latitude_deg =
      coordinate(file, line, latitude.empty() ? entry(measurements, {"REFLAT"}) : latitude, "latitude", 90.0);
  out.longitude_deg =
      coordinate(file, line, longitude.empty() ? entry(measurements, {"REFLONG", "REFLON"}) : longitude,
                 "longitude", 360.0);
  out.elevation_m = elevation_m(file, line, head, measurements);
  if (out.latitude_deg == 0.0 && out.longitude_deg == 0.0)
    file.warn(line, "latitude and longitude are both 0; the place is probably unknown");
  const std::string empty = entry(head, {"EMPTY"});
  if (const auto value = text::number(empty); value && std::isfinite(*value)) out.empty = EdiEmpty(*value);
  return out;
}

}  // namespace lodestone::io::edi
