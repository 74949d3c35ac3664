// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "io/csv/rows.hpp"
#include "io/geodesy/projection.hpp"
#include "io/model/read.hpp"
#include "io/raster/raster.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mesh/mean_surface.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace lodestone::io::model {
namespace {

using geodesy::GeoPoint;
using physics::mesh::MapPlace;

constexpr const char* component = "io::model::elevations";
constexpr std::array<std::string_view, 3> columns{"latitude_deg", "longitude_deg", "elevation_m"};
constexpr double highest_m = 12e3;  // above and below sea level, with room for any ground and sea floor

/// Returns a number that is an elevation. errors: FormatError at `place()`. `way_out`: how to leave it out.
template <class Place>
double elevation_of(double metres, const Place& place, const char* way_out) {
  if (std::abs(metres) <= highest_m) return metres;
  throw core::FormatError("io::model::elevations#no_elevation",
                          "{}: expected an elevation within ±{:g} m of sea level, got {:g}; {}", place(),
                          highest_m, metres, way_out);
}

/// Puts the points of a map into the frame of a run, and sums them up over its cells.
class Points {
 public:
  Points(std::string path, const MappedRun& run) : path_(std::move(path)), run_(run), means_(run.grid) {}
  /// Takes latitudes and longitudes from here on. errors: InvalidArgument.
  void use_degrees();
  /// Adds a point in degrees; the longitude may count from 0 to 360. errors: FormatError at `place`.
  template <class Place>
  void add(GeoPoint at, double elevation_m, const Place& place);
  /// Adds a point in metres.
  void add(const MapPlace& at);
  void leave_out() { ++n_left_out_; }
  /// Returns the map. errors: InvalidArgument.
  [[nodiscard]] physics::mesh::Surface surface();

 private:
  void project();
  void widen(double north, double east);
  void check_sites(const physics::mesh::MeanMap& map) const;
  [[nodiscard]] std::string place_of(const physics::mesh::Point& at) const;

  std::string path_;
  const MappedRun& run_;
  physics::mesh::MeanSurface means_;
  std::optional<geodesy::Projection> projection_{};  ///< absent: points are in metres
  GeoPoint origin_{};
  double reach_m_ = 0.0;  ///< farther from the origin no point counts
  std::vector<GeoPoint> degrees_{};
  std::vector<double> elevations_m_{};
  std::size_t n_ = 0, n_left_out_ = 0;
  physics::mesh::Interval north_{}, east_{};  ///< extent of all points, in degrees or metres
};

void Points::use_degrees() {
  if (!run_.frame.is_on_map())
    throw core::InvalidArgument(
        "io::model::elevations#no_place_on_globe",
        "{}: expected stations with a place on the globe, under which degrees of a map can be put, but the "
        "data state x and y alone (a ModEM file with the origin 0 0 does); write the latitude and longitude "
        "of the origin into the data, or give the map as x_m,y_m,z_m",
        path_);
  projection_ = geodesy::Projection::from_definition(run_.frame.projection);
  origin_ = projection_->to_geographic({{run_.frame.origin_north_m, run_.frame.origin_east_m}}).front();
  const physics::mesh::Box extent = run_.grid.extent();
  constexpr double margin = 1.5;  // half a cell at the sides, and the scale of projections
  for (const double x_m : {extent.x_m.from, extent.x_m.to})
    for (const double y_m : {extent.y_m.from, extent.y_m.to})
      reach_m_ = std::max(reach_m_, margin * std::hypot(x_m, y_m));
}

void Points::widen(double north, double east) {
  north_ = n_ == 0 ? physics::mesh::Interval{north, north}
                   : physics::mesh::Interval{std::min(north_.from, north), std::max(north_.to, north)};
  east_ = n_ == 0 ? physics::mesh::Interval{east, east}
                  : physics::mesh::Interval{std::min(east_.from, east), std::max(east_.to, east)};
  ++n_;
}

template <class Place>
void Points::add(GeoPoint at, double elevation_m, const Place& place) {
  if (!(std::abs(at.latitude_deg) <= 90.0) || !(std::abs(at.longitude_deg) <= 360.0))
    throw core::FormatError(
        "io::model::elevations#not_on_globe",
        "{}: expected a latitude within ±90° and a longitude within ±360°, got {:g} and {:g}; are "
        "they swapped, or in metres?",
        place(), at.latitude_deg, at.longitude_deg);
  constexpr double turn_deg = 360.0;
  at.longitude_deg =
      origin_.longitude_deg + std::remainder(at.longitude_deg - origin_.longitude_deg, turn_deg);
  widen(at.latitude_deg, at.longitude_deg);
  if (geodesy::great_circle_distance_m(at, origin_) > reach_m_) return;
  degrees_.push_back(at);
  elevations_m_.push_back(elevation_m);
  constexpr std::size_t at_once = 4096;
  if (degrees_.size() == at_once) project();
}

void Points::add(const MapPlace& at) {
  widen(at.north_m, at.east_m);
  means_.add(from_map(run_.frame, at));
}

void Points::project() {
  if (!projection_) return;
  const std::vector<physics::mt::PlanePoint> plane = projection_->to_plane(degrees_);
  for (std::size_t i = 0; i < plane.size(); ++i)
    means_.add(from_map(run_.frame, {plane[i].east_m, plane[i].north_m, elevations_m_[i]}));
  degrees_.clear();
  elevations_m_.clear();
}

std::string Points::place_of(const physics::mesh::Point& at) const {
  const MapPlace place = on_map(run_.frame, at);
  if (!projection_) return fmt::format("{:.0f} m north, {:.0f} m east", place.north_m, place.east_m);
  const GeoPoint globe = projection_->to_geographic({{place.north_m, place.east_m}}).front();
  return fmt::format("latitude {:.4f}, longitude {:.4f}", globe.latitude_deg, globe.longitude_deg);
}

/// Refuses a map that has no point around a site.
void Points::check_sites(const physics::mesh::MeanMap& map) const {
  constexpr int most_names = 5;
  std::string names;
  int n = 0;
  for (const physics::mesh::Site& site : run_.sites) {
    if (map.covers(site.at.x_m, site.at.y_m)) continue;
    if (++n <= most_names) names += fmt::format("{}{} ({})", n > 1 ? ", " : "", site.name, place_of(site.at));
  }
  if (n == 0 && map.surface.is_map()) return;
  const std::string spans = n_ == 0 ? std::string("no point with an elevation")
                            : projection_
                                ? fmt::format("latitudes {:.4f} … {:.4f}, longitudes {:.4f} … {:.4f}",
                                              north_.from, north_.to, east_.from, east_.to)
                                : fmt::format("{:.0f} … {:.0f} m north, {:.0f} … {:.0f} m east", north_.from,
                                              north_.to, east_.from, east_.to);
  throw core::InvalidArgument(
      "io::model::elevations#sites_beside_map",
      "{}: expected points of the map around every station, but {} of {} have none: {}{}; the map has {}{}; "
      "give one that reaches a cell beyond the stations",
      path_, n, run_.sites.size(), names, n > most_names ? fmt::format(" and {} more", n - most_names) : "",
      spans, n_left_out_ > 0 ? fmt::format(" and {} cells without data", n_left_out_) : "");
}

physics::mesh::Surface Points::surface() {
  project();
  physics::mesh::MeanMap map = means_.n_points() > 0 ? means_.map() : physics::mesh::MeanMap{};
  check_sites(map);
  core::log::info(
      "{}: {} of {} points stand above the cells{}; means at {} × {} points, elevations {:.0f} … {:.0f} m",
      path_, means_.n_points(), n_,
      n_left_out_ > 0 ? fmt::format(", {} cells hold no data and are left out", n_left_out_) : "",
      map.surface.x_m().size(), map.surface.y_m().size(), -map.surface.lowest_m(), -map.surface.highest_m());
  return std::move(map.surface);
}

/// Reads CSV with the three columns in any order.
void read_table(const std::string& path, Points& points) {
  std::array<std::size_t, 3> field{};
  bool has_header = false;
  points.use_degrees();
  csv::visit_rows(path, component, [&](int line, std::vector<std::string>&& fields) {
    if (!has_header) {
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const auto found = std::ranges::find(fields, columns[i]);
        if (found == fields.end() || fields.size() != columns.size())
          throw core::FormatError("io::model::elevations#wrong_header",
                                  "{}:{}: expected the columns latitude_deg, longitude_deg and elevation_m, "
                                  "in any order and no others, got \"{}\"",
                                  path, line, text::printable(fmt::format("{}", fmt::join(fields, ","))));
        field[i] = static_cast<std::size_t>(found - fields.begin());
      }
      has_header = true;
      return;
    }
    const auto value = [&](std::size_t i) {
      return csv::real_field(fields[field[i]], path, line, component, columns[i]);
    };
    const auto place = [&] { return fmt::format("{}:{}", path, line); };
    points.add({value(0), value(1)},
               elevation_of(value(2), place, "leave out the lines of places without data"), place);
  });
}

/// Reads a raster. Pixels without a stated system are in degrees where they span at most the globe: metres
/// over so little are no map for a survey.
void read_raster(const std::string& path, Points& points) {
  const raster::ElevationRaster raster(path);
  constexpr double globe_deg = 360.0, half_globe_deg = 180.0;
  const bool in_degrees =
      raster.is_on_globe() || (raster.width() <= globe_deg && raster.height() <= half_globe_deg);
  if (in_degrees) points.use_degrees();
  raster.visit([&](const raster::Pixel& pixel, int row) {
    if (std::isnan(pixel.elevation_m)) return points.leave_out();
    const auto place = [&] { return fmt::format("{}: row {}", path, row + 1); };
    const double elevation_m = elevation_of(pixel.elevation_m, place,
                                            "state in the file which number stands for cells without data");
    if (in_degrees)
      points.add({pixel.north, pixel.east}, elevation_m, place);
    else
      points.add({.east_m = pixel.east, .north_m = pixel.north, .elevation_m = elevation_m});
  });
}

/// Returns the first line that is neither blank nor a comment.
std::string first_line_of(const std::string& path) {
  constexpr std::size_t looked_at = 16384;
  const std::string bytes = text::read_bytes_up_to(path, looked_at);
  for (const auto line : text::split_lines(bytes)) {
    const auto trimmed = text::trimmed(line);
    if (!trimmed.empty() && trimmed.front() != '#') return std::string(trimmed);
  }
  return {};
}

bool is_table(const std::string& first_line) {
  return std::ranges::any_of(
      columns, [&](std::string_view name) { return first_line.find(name) != std::string::npos; });
}

}  // namespace

bool is_elevation_map(const std::string& path) {
  const std::string line = first_line_of(path);
  const bool is_surface = line.starts_with("y_m,") || line.starts_with("x_m,");
  return is_table(line) || (!is_surface && raster::is_raster(path));
}

physics::mesh::Surface read_elevation_map(const std::string& path, const MappedRun& run) {
  Points points(path, run);
  if (is_table(first_line_of(path)))
    read_table(path, points);
  else
    read_raster(path, points);
  return points.surface();
}

}  // namespace lodestone::io::model
