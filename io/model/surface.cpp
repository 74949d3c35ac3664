// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/model/read.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/ranges.hpp"

#include <cmath>

namespace lodestone::io::model {
namespace {

/// Returns both numbers of a line: "y,z" below a header, else two words.
std::pair<double, double> pair_of(std::string_view line, bool is_csv, const std::string& place) {
  std::string text(line);
  if (is_csv) {
    const auto comma = text.find(',');
    if (comma != std::string::npos) text[comma] = ' ';
  }
  const auto row = io::text::words(text);
  const auto y = row.size() == 2 ? io::text::number(row[0]) : std::nullopt,
             z = row.size() == 2 ? io::text::number(row[1]) : std::nullopt;
  const auto is_on_earth = [](double metres) {
    return std::abs(metres) <= physics::mt::largest_coordinate_m;
  };
  if (y && z && std::isfinite(*y) && std::isfinite(*z) && !(is_on_earth(*y) && is_on_earth(*z))) {
    throw core::FormatError("io::model::surface#off_the_earth",
                            "{}: expected coordinates within ±{:g} m, got \"{}\"; are they in metres?", place,
                            physics::mt::largest_coordinate_m, io::text::printable(line));
  }
  if (!y || !z || !std::isfinite(*y) || !std::isfinite(*z)) {
    throw core::FormatError("io::model::surface#not_a_pair", "{}: expected two numbers {}, got \"{}\"", place,
                            is_csv ? "y_m,z_m" : "y z", io::text::printable(line));
  }
  return {*y, *z};
}

/// The header of CSV; two numbers there are the first line of a file without one.
bool has_header(const std::vector<std::string_view>& lines, const std::string& path) {
  const std::string_view first = lines.empty() ? std::string_view() : io::text::trimmed(lines.front());
  if (first == "y_m,z_m") return true;
  const auto row = io::text::words(first);
  if (row.size() == 2 && io::text::number(row[0]) && io::text::number(row[1])) return false;
  throw core::FormatError("io::model::surface#not_a_surface",
                          "{}:1: expected the header y_m,z_m, or two numbers, got \"{}\"", path,
                          io::text::printable(first));
}

}  // namespace

physics::mesh::SurfaceLine read_surface_file(const std::string& path) {
  const std::string bytes = io::text::read_text(path);
  const auto lines = io::text::split_lines(bytes);
  const bool is_csv = has_header(lines, path);
  std::vector<double> y_m, z_m;
  for (std::size_t i = is_csv ? 1 : 0; i < lines.size(); ++i) {
    if (io::text::trimmed(lines[i]).empty()) continue;
    const std::string place = fmt::format("{}:{}", path, i + 1);
    const auto [y, z] = pair_of(lines[i], is_csv, place);
    if (!y_m.empty() && y <= y_m.back())
      throw core::FormatError("io::model::surface#positions_not_increasing",
                              "{}: expected y_m above {}, got {}; sort the lines", place, y_m.back(), y);
    y_m.push_back(y);
    z_m.push_back(z);
  }
  if (y_m.empty())
    throw core::FormatError("io::model::surface#no_points",
                            "{}: expected lines y_m,z_m below the header, but the file ends there", path);
  return {std::move(y_m), std::move(z_m)};
}

}  // namespace lodestone::io::model
