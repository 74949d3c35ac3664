// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/csv/rows.hpp"
#include "io/model/read.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/ranges.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace lodestone::io::model {
namespace {

constexpr std::string_view map_header = "x_m,y_m,z_m";

[[noreturn]] void refuse_off_earth(const std::string& place, std::string_view line) {
  throw core::FormatError("io::model::surface#off_the_earth",
                          "{}: expected coordinates within ±{:g} m, got \"{}\"; are they in metres?", place,
                          physics::mt::largest_coordinate_m, io::text::printable(line));
}

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
    refuse_off_earth(place, line);
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
                          "{}:1: expected the header y_m,z_m, x_m,y_m,z_m or "
                          "latitude_deg,longitude_deg,elevation_m, the head of an ESRI grid (ncols 100), or "
                          "two numbers, got \"{}\"",
                          path, io::text::printable(first));
}

/// A point of a map with the number of its line.
struct MapPoint {
  std::array<double, 3> at;
  int line;
};

std::vector<MapPoint> read_map_points(const std::string& path) {
  constexpr const char* component = "io::model::surface";
  std::vector<MapPoint> points;
  std::vector<std::string> header;
  csv::visit_rows(path, component, [&](int line, std::vector<std::string>&& fields) {
    if (header.empty()) {
      header = std::move(fields);
      return;
    }
    MapPoint point{{}, line};
    for (std::size_t i = 0; i < 3; ++i) {
      point.at[i] = csv::real_field(fields[i], path, line, component, header[i]);
      if (!physics::mt::is_in_coordinate_range(point.at[i]))
        refuse_off_earth(fmt::format("{}:{}", path, line), fields[i]);
    }
    points.push_back(point);
  });
  return points;
}

/// Returns the distinct coordinates of points along an axis, increasing.
std::vector<double> places_of(const std::vector<MapPoint>& points, std::size_t axis) {
  std::vector<double> places;
  for (const MapPoint& point : points) places.push_back(point.at[axis]);
  std::ranges::sort(places);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

/// Reads the points of a grid, each of them once, in any order.
physics::mesh::Surface read_map(const std::string& path) {
  const std::vector<MapPoint> points = read_map_points(path);
  std::vector<double> x_m = places_of(points, 0), y_m = places_of(points, 1);
  if (x_m.size() < 2 || y_m.size() < 2)
    throw core::FormatError("io::model::surface#no_grid",
                            "{}: expected points at two or more x and two or more y, got {} and {}; give a "
                            "surface along a profile with the header y_m,z_m",
                            path, x_m.size(), y_m.size());
  Eigen::MatrixXi line = Eigen::MatrixXi::Zero(std::ssize(x_m), std::ssize(y_m));  // 0: not seen yet
  Eigen::MatrixXd z_m(line.rows(), line.cols());
  for (const MapPoint& point : points) {
    const auto i = std::ranges::lower_bound(x_m, point.at[0]) - x_m.begin(),
               j = std::ranges::lower_bound(y_m, point.at[1]) - y_m.begin();
    if (line(i, j) > 0)
      throw core::FormatError(
          "io::model::surface#point_twice",
          "{}:{}: expected each point once, but x = {} m, y = {} m also stands in line {}", path, point.line,
          point.at[0], point.at[1], line(i, j));
    line(i, j) = point.line;
    z_m(i, j) = point.at[2];
  }
  Eigen::Index i = 0, j = 0;
  if (line.minCoeff(&i, &j) == 0)
    throw core::FormatError(
        "io::model::surface#gap",
        "{}: expected a z for each of {} x and {} y, but {} of {} points are absent, one at "
        "x = {} m, y = {} m; interpolate them, or round the coordinates so that rows agree",
        path, x_m.size(), y_m.size(), (line.array() == 0).count(), line.size(),
        x_m[static_cast<std::size_t>(i)], y_m[static_cast<std::size_t>(j)]);
  return {std::move(x_m), std::move(y_m), std::move(z_m)};
}

/// Tells a map from a line by the first line that is neither blank nor a comment.
bool is_map(const std::vector<std::string_view>& lines) {
  for (const std::string_view line : lines) {
    const auto text = io::text::trimmed(line);
    if (!text.empty() && text.front() != '#') return text == map_header;
  }
  return false;
}

}  // namespace

physics::mesh::Surface read_surface_file(const std::string& path) {
  const std::string bytes = io::text::read_text(path);
  const auto lines = io::text::split_lines(bytes);
  if (is_map(lines)) return read_map(path);
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
  return physics::mesh::SurfaceLine(std::move(y_m), std::move(z_m));
}

}  // namespace lodestone::io::model
