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

/// "D:M:S", "D:M", decimal degrees, with a leading sign or a trailing or leading N S E W.
std::optional<double> angle_deg(std::string_view text) {
  std::string word;
  double sign = 1.0;
  for (const char c : text) {
    const std::string letter = text::upper(std::string_view(&c, 1));
    if (letter == "S" || letter == "W") {
      sign = -1.0;
    } else if (!text::is_blank(c) && letter != "N" && letter != "E" && letter != "+") {
      word += c;
    }
  }
  if (!word.empty() && word.front() == '-') {  // "-0:30:00" is half a degree south
    sign = -sign;
    word.erase(0, 1);
  }
  double degrees = 0.0, unit = 1.0;
  std::string_view rest = word;
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
