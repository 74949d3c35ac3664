// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/edi/sections.hpp"
#include "io/text/lines.hpp"
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

/// An angle as it is read: its degrees, and whether its minutes and seconds are possible.
struct Angle {
  double deg = 0.0;
  bool is_proper = true;
};

/// Reads "D:M:S", "D:M" or decimal degrees (also 2.5E+01), with a leading sign or a trailing or leading N S E
/// W.
std::optional<Angle> angle_of(std::string_view text) {
  std::string packed;
  for (const char c : text) packed += text::is_blank(c) ? std::string() : std::string(1, c);
  std::string_view rest = packed;
  double sign = take_hemisphere(rest);
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) {  // "-0:30:00" is half a degree south
    sign = rest.front() == '-' ? -sign : sign;
    rest.remove_prefix(1);
  }
  Angle angle;
  double unit = 1.0;
  while (true) {
    const auto colon = rest.find(':');
    const auto part = text::number(rest.substr(0, colon));
    if (!part || !std::isfinite(*part) || *part < 0.0 || unit < 1.0 / 3600.0 - 1e-9) return std::nullopt;
    angle.deg += *part * unit;
    // The last part may be 60, to which some writers round 59.99….
    if (unit < 1.0 && (*part > 60.0 || (*part == 60.0 && colon != std::string_view::npos)))
      angle.is_proper = false;
    if (colon == std::string_view::npos) {
      angle.deg *= sign;
      return angle;
    }
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

/// Returns the number of the line of a block that states this value; that of the block when it is none.
int line_of(const EdiBlock& block, const std::string& value) {
  for (const auto& [line, text] : block.lines) {
    const auto equals = text.find('=');
    if (equals != std::string_view::npos && text.find(value, equals) != std::string_view::npos) return line;
  }
  return block.line;
}

/// Returns the number of the first line that states a value of the head or of the measurements.
int line_of(const EdiFile& file, const std::string& value) {
  for (const char* name : {"HEAD", "DEFINEMEAS"}) {
    const EdiBlock* block = file.find(name);
    if (block != nullptr && line_of(*block, value) != block->line) return line_of(*block, value);
  }
  return 1;
}

double coordinate(EdiFile& file, int line, const std::string& text, const char* what, double largest) {
  if (text.empty()) return not_given;
  const auto angle = angle_of(text);
  if (angle && !angle->is_proper)
    throw core::FormatError("io::edi::read#wrong_angle",
                            "{}:{}: expected a {} with minutes and seconds below 60, got \"{}\"; correct it",
                            file.path, line_of(file, text), what, text::printable(text));
  if (!angle || std::abs(angle->deg) > largest) {
    file.warn(line,
              std::string(what) + " \"" + text::printable(text) + "\" is not an angle; taken as unknown");
    return not_given;
  }
  return angle->deg > 180.0 ? angle->deg - 360.0 : angle->deg;
}

std::string name_of(const EdiFile& file, const Entries& head) {
  std::string name = entry(head, {"DATAID"});
  for (const auto& block : file.blocks) {
    if (name.empty() && block.is_section && block.name != "DEFINEMEAS")
      name = entry(block.entries(), {"SECTID"});
  }
  const std::string where = file.path + ":" + std::to_string(name.empty() ? 1 : line_of(file, name));
  if (name.empty()) name = std::filesystem::path(file.path).stem().string();
  return text::checked_name(name, "io::edi::read", where);
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
