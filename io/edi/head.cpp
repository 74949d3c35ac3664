// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/edi/sections.hpp"
#include "io/text/lines.hpp"
#include "io/text/scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

namespace lodestone::io::edi {
namespace {

using physics::mt::not_given;

using Entries = std::map<std::string, std::string>;

/// A value as a block states it, and the number of that line.
struct Stated {
  std::string text{};  ///< empty: there is none
  int line = 1;
};

/// Returns the number of the line of a block that states a key; that of the block for its first line.
int line_of(const EdiBlock& block, const std::string& key) {
  for (const auto& [line, text] : block.lines) {
    const auto equals = text.find('=');
    const bool is_there = !block.options.contains(key) && equals != std::string_view::npos;
    if (is_there && text::equals_ignoring_case(text::trimmed(text.substr(0, equals)), key)) return line;
  }
  return block.line;
}

/// Returns the value of the first of the keys that has one.
Stated stated(const EdiBlock* block, const std::vector<std::string>& keys) {
  if (block == nullptr) return {};
  const Entries entries = block->entries();
  for (const std::string& key : keys) {
    const auto found = entries.find(key);
    if (found != entries.end() && !found->second.empty()) return {found->second, line_of(*block, key)};
  }
  return {{}, block->line};
}

/// Returns the first of two values that is there.
Stated either(Stated first, Stated second) { return first.text.empty() ? std::move(second) : first; }

double coordinate(EdiFile& file, const Stated& stated, const char* what, double largest) {
  const auto& [text, line] = stated;
  if (text.empty()) return not_given;
  const auto angle = text::angle(text);
  if (angle && !angle->is_proper)
    throw core::FormatError("io::edi::read#wrong_angle",
                            "{}:{}: expected a {} with minutes and seconds below 60, got \"{}\"; correct it",
                            file.path, line, what, text::printable(text));
  if (!angle || std::abs(angle->deg) > largest) {
    const std::string named = fmt::format("{} \"{}\"", what, text::printable(text));
    if (angle)
      file.warn(line, physics::mt::impossible_angle(named, what, angle->deg, largest));
    else
      file.warn(line, named + " is not an angle; taken as unknown");
    constexpr double least_metres = 10'000.0;
    if (angle && std::abs(angle->deg) >= least_metres)
      file.warn(line,
                {fmt::format("{} \"{}\" looks like metres of a projection, such as UTM; files state degrees",
                             what, text::printable(text)),
                 physics::mt::RemarkKind::metres});
    return not_given;
  }
  return angle->deg > 180.0 ? angle->deg - 360.0 : angle->deg;
}

std::string name_of(const EdiFile& file) {
  const Stated by_head = stated(file.find("HEAD"), {"DATAID"});
  Stated by_section{};
  for (const auto& block : file.blocks) {
    if (by_section.text.empty() && block.is_section && block.name != "DEFINEMEAS")
      by_section = stated(&block, {"SECTID"});
  }
  Stated name = file.is_part ? either(by_section, by_head) : either(by_head, by_section);
  if (name.text.empty()) name = {std::filesystem::path(file.path).stem().string(), 1};
  return text::checked_name(name.text, "io::edi::read", fmt::format("{}:{}", file.path, name.line));
}

/// Returns the metres in the unit of lengths that a head states; a warning where it is not known.
double metres_per_unit(EdiFile& file, const Stated& units) {
  constexpr double metres_per_foot = 0.3048;
  const std::string word = text::upper(units.text);
  for (const char* feet : {"FT", "FEET", "FOOT"}) {
    if (word == feet) return metres_per_foot;
  }
  const auto metres = {"", "M", "METER", "METERS", "METRE", "METRES"};
  if (std::ranges::find(metres, word) == metres.end())
    file.warn(units.line,
              fmt::format("expected UNITS of M or FT, got \"{}\"; the elevation is taken as metres",
                          text::printable(units.text)));
  return 1.0;
}

double elevation_m(EdiFile& file, const EdiBlock* head, const EdiBlock* measurements) {
  const auto [text, line] = either(stated(head, {"ELEV"}), stated(measurements, {"REFELEV"}));
  if (text.empty()) return not_given;
  const auto value = text::number(text);
  if (!value || !std::isfinite(*value) || std::abs(*value) > 1e5) {
    file.warn(line, "elevation \"" + text::printable(text) + "\" is not a length; taken as unknown");
    return not_given;
  }
  return *value * metres_per_unit(file, stated(head, {"UNITS"}));
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
  // Blocks as they were found; warnings do not move them.
  const EdiBlock* head = file.find("HEAD");
  const EdiBlock* measurements = file.find("DEFINEMEAS");
  if (!head) file.warn(1, "no >HEAD block");
  EdiHead out;
  out.name = name_of(file);
  const Stated latitude = either(stated(head, {"LAT", "LATITUDE"}), stated(measurements, {"REFLAT"}));
  const Stated longitude =
      either(stated(head, {"LONG", "LON", "LONGITUDE"}), stated(measurements, {"REFLONG", "REFLON"}));
  out.latitude_deg = coordinate(file, latitude, "latitude", 90.0);
  out.longitude_deg = coordinate(file, longitude, "longitude", 360.0);
  out.elevation_m = elevation_m(file, head, measurements);
  if (out.latitude_deg == 0.0 && out.longitude_deg == 0.0)
    file.warn(latitude.line, "latitude and longitude are both 0; the place is probably unknown");
  const std::string empty = stated(head, {"EMPTY"}).text;
  if (const auto value = text::number(empty); value && std::isfinite(*value)) out.empty = EdiEmpty(*value);
  return out;
}

}  // namespace lodestone::io::edi
