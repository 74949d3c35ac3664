// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/surface_file.hpp"

#include "engine/core/error.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"

#include <cmath>

namespace lodestone::mt_invert {
namespace {

constexpr const char* component = "mt_invert";

/// Both numbers of a line "y,z".
std::pair<double, double> pair_of(std::string_view line, const std::string& place) {
  const auto comma = line.find(',');
  const auto y = comma == std::string_view::npos ? std::nullopt : io::number(io::trimmed(line.substr(0, comma)));
  const auto z = comma == std::string_view::npos ? std::nullopt : io::number(io::trimmed(line.substr(comma + 1)));
  if (!y || !z || !std::isfinite(*y) || !std::isfinite(*z)) {
    throw core::FormatError(component, "{}: expected two numbers y_m,z_m, got \"{}\"", place, io::printable(line));
  }
  return {*y, *z};
}

}  // namespace

physics::mesh::Surface2D read_surface_csv(const std::string& path) {
  const std::string bytes = io::read_bytes(path);
  const auto lines = io::split_lines(bytes);
  if (lines.empty() || io::trimmed(lines.front()) != "y_m,z_m") {
    throw core::FormatError(component, "{}:1: expected the header y_m,z_m, got \"{}\"", path,
                            lines.empty() ? "" : io::printable(lines.front()));
  }
  std::vector<double> y_m, z_m;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (io::trimmed(lines[i]).empty()) continue;
    const std::string place = fmt::format("{}:{}", path, i + 1);
    const auto [y, z] = pair_of(lines[i], place);
    if (!y_m.empty() && y <= y_m.back())
      throw core::FormatError(component, "{}: expected y_m above {}, got {}; sort the lines", place, y_m.back(), y);
    y_m.push_back(y);
    z_m.push_back(z);
  }
  if (y_m.empty()) throw core::FormatError(component, "{}: expected lines y_m,z_m below the header, got none", path);
  return {std::move(y_m), std::move(z_m)};
}

}  // namespace lodestone::mt_invert
