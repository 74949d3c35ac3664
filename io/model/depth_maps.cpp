// SPDX-License-Identifier: Apache-2.0
#include "io/model/depth_maps.hpp"

#include "engine/core/error.hpp"
#include "io/geodesy/map_system.hpp"
#include "io/raster/raster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lodestone::io::model {
namespace {

using geodesy::MapSystem;
using physics::mesh::Axis;
using physics::mesh::DepthReference;
using physics::mesh::MapPlace;
using physics::mesh::Model;
using physics::mesh::Point;
using physics::mesh::TensorGrid;

constexpr const char* component = "io::model::write_depth_maps";
constexpr double most_pixels = 50e6;

template <class... Parts>
[[noreturn]] void refuse(std::string_view id, fmt::format_string<Parts...> text, Parts&&... parts) {
  throw core::InvalidArgument(fmt::format("{}#{}", component, id), "{}",
                              fmt::format(text, std::forward<Parts>(parts)...));
}

void check(const std::string& path, const PlacedModel& placed, const DepthMapOptions& options) {
  const TensorGrid& grid = placed.model.earth.grid;
  if (grid.dimension() != 3)
    refuse("not_a_volume", "{}: expected a volume, as maps cut it at depths, got a section", path);
  if (!placed.frame.is_on_map())
    refuse("no_place_on_map",
           "{}: expected a model with a place on the map, but its file states none; give the latitude and "
           "longitude of its origin (--origin LAT,LON)",
           path);
  if (options.depths_m.empty())
    refuse("no_depth", "{}: expected the depths of maps (--depths-km 1,5,10), found none", path);
  for (const double depth_m : options.depths_m) {
    const double deepest_m = grid.z_edges_m().back();
    if (!(depth_m >= 0.0 && depth_m <= deepest_m))
      refuse("depth_outside", "{}: expected depths from 0 to {:g} km, as the model has, got {:g} km", path,
             1e-3 * deepest_m, 1e-3 * depth_m);
  }
}

double least_width_m(const TensorGrid& grid) {
  double least = std::numeric_limits<double>::infinity();
  for (const Axis axis : {Axis::x, Axis::y})
    for (int i = 0; i < grid.n(axis); ++i) least = std::min(least, grid.width_m(axis, i));
  return least;
}

/// Returns the raster without values: the least one, in whole pixels, around the corners of the grid.
raster::Raster raster_around(const std::string& path, const TensorGrid& grid, const MapSystem& system,
                             double pixel_m) {
  std::vector<Point> corners;
  for (const double x : grid.edges_m(Axis::x)) {
    corners.push_back({x, grid.y_edges_m().front(), 0.0});
    corners.push_back({x, grid.y_edges_m().back(), 0.0});
  }
  const auto places = system.places(corners);
  const auto [west, east] = std::ranges::minmax_element(places, {}, &MapPlace::east_m);
  const auto [south, north] = std::ranges::minmax_element(places, {}, &MapPlace::north_m);
  const double n_columns = std::ceil((east->east_m - west->east_m) / pixel_m - 1e-6),
               n_rows = std::ceil((north->north_m - south->north_m) / pixel_m - 1e-6);
  if (n_columns * n_rows > most_pixels)
    refuse("too_many_pixels",
           "{}: expected at most {:g} pixels, got {:g} x {:g} of {:g} m; give a larger "
           "pixel (--pixel METRES)",
           path, most_pixels, n_columns, n_rows, pixel_m);
  return {.n_columns = static_cast<int>(n_columns),
          .n_rows = static_cast<int>(n_rows),
          .west = west->east_m,
          .north = north->north_m,
          .pixel = pixel_m,
          .system = system.definition()};
}

/// Returns the value at a depth below a point of the surface; NaN beside the grid.
double value_at(const Model& model, const Eigen::VectorXd& values, Point at, double depth_m) {
  const bool is_draped = model.earth.grid.reference() == DepthReference::surface;
  const double surface_m = is_draped ? 0.0 : model.earth.surface.z_at(at.x_m, at.y_m),
               top_m = model.earth.grid.z_edges_m().front();
  at.z_m = std::max(surface_m + depth_m, top_m);  // the top row reaches up to the surface
  const Eigen::Index cell = model.earth.grid.at(at);
  return cell < 0 ? std::numeric_limits<double>::quiet_NaN() : values[cell];
}

}  // namespace

std::vector<std::string> write_depth_maps(const std::string& path, const PlacedModel& placed,
                                          const DepthMapOptions& options) {
  check(path, placed, options);
  const Model& model = placed.model;
  const MapSystem system(placed.frame, options.system.empty() ? placed.frame.projection : options.system);
  if (system.is_geographic())
    refuse("degrees", "{}: expected a projected system in metres, got degrees; give its EPSG code", path);
  raster::Raster maps = raster_around(path, model.earth.grid, system,
                                      options.pixel_m.value_or(least_width_m(model.earth.grid)));
  maps.quantity = "log10 resistivity";
  maps.units = "log10(ohm m)";
  const Eigen::VectorXd values = log10_resistivity(model);
  for (const double depth_m : options.depths_m)
    maps.bands.push_back({fmt::format("log10 resistivity (ohm m) at {:g} km", 1e-3 * depth_m), {}});
  for (int row = 0; row < maps.n_rows; ++row) {
    std::vector<MapPlace> places;
    for (int column = 0; column < maps.n_columns; ++column)
      places.push_back({maps.east_of(column), maps.north_of(row), 0.0});
    for (const Point& point : system.points(places))
      for (std::size_t band = 0; band < maps.bands.size(); ++band)
        maps.bands[band].values.push_back(
            static_cast<float>(value_at(model, values, point, options.depths_m[band])));
  }
  raster::write_geotiff(path, maps);
  return {"all between the depths, the surface and digits beyond 32 bits: maps are not read back"};
}

}  // namespace lodestone::io::model
