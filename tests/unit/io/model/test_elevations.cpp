// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/geodesy/projection.hpp"
#include "io/model/read.hpp"
#include "io/raster/raster.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/text_fixture.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>

using namespace lodestone;
using namespace lodestone::io;
using physics::mesh::Surface;

namespace {

const geodesy::GeoPoint middle{-20.0, 16.0};

/// Returns a run of 2 km cells around a place, turned by 30 degrees, with one site.
model::MappedRun turned_run() {
  const geodesy::Projection projection({middle});
  const std::vector<double> lines{-6000, -4000, -2000, 0, 2000, 4000, 6000};
  return {.frame = {.projection = projection.definition(), .origin_north_m = 500.0, .azimuth_deg = 120.0},
          .grid = physics::mesh::TensorGrid({.x_m = lines, .y_m = lines, .z_m = {0, 100}}),
          .sites = {{.name = "s1", .at = {500.0, -700.0, 0.0}}}};
}

/// Returns the elevation of a slope that rises to the north and falls to the east.
double elevation_m(const geodesy::GeoPoint& at) {
  return 1000.0 + 2e4 * (at.latitude_deg - middle.latitude_deg) -
         1e4 * (at.longitude_deg - middle.longitude_deg);
}

constexpr int n_rows = 41, n_columns = 51;
constexpr double cell_deg = 0.005;

geodesy::GeoPoint place_of(int row, int column) {
  return {middle.latitude_deg + (n_rows / 2 - row) * cell_deg,
          middle.longitude_deg + (column - n_columns / 2) * cell_deg};
}

/// Returns the slope as CSV with all longitudes turned.
std::string table(double turn_deg = 0.0) {
  std::string text = "longitude_deg,elevation_m,latitude_deg\n";
  for (int i = 0; i < n_rows; ++i) {
    for (int j = 0; j < n_columns; ++j) {
      const auto at = place_of(i, j);
      text += fmt::format("{},{},{}\n", at.longitude_deg + turn_deg, elevation_m(at), at.latitude_deg);
    }
  }
  return text;
}

/// Returns the slope as an ESRI grid in degrees; `hole`: a row with seven cells without data.
std::string grid(bool by_corner, int hole = -1) {
  const auto first = place_of(n_rows - 1, 0);
  const double half = by_corner ? 0.5 * cell_deg : 0.0;
  const char* key = by_corner ? "corner" : "center";
  std::string text =
      fmt::format("NCOLS {}\nnrows {}\nxll{} {}\nyll{} {}\ncellsize {}\nNODATA_value -32768\n", n_columns,
                  n_rows, key, first.longitude_deg - half, key, first.latitude_deg - half, cell_deg);
  for (int i = 0; i < n_rows; ++i) {
    for (int j = 0; j < n_columns; ++j)
      text += i == hole && j >= 22 && j < 29 ? "-32768 " : fmt::format("{} ", elevation_m(place_of(i, j)));
    text += "\n";
  }
  return text;
}

Surface read(const std::string& text, const model::MappedRun& run = turned_run()) {
  const tests::TemporaryFolder folder;
  const std::string path = tests::write_text(folder, "dem.txt", text);
  CHECK(model::is_elevation_map(path));
  return model::read_elevation_map(path, run);
}

template <class Error = core::FormatError>
core::Error refusal(const std::string& text, const model::MappedRun& run = turned_run()) {
  return tests::error_of<Error>([&] { static_cast<void>(read(text, run)); });
}

/// Returns the largest difference of two surfaces at the points of one.
double apart_m(const Surface& a, const Surface& b) {
  double most = 0.0;
  for (const double x : a.x_m())
    for (const double y : a.y_m()) most = std::max(most, std::abs(a.z_at(x, y) - b.z_at(x, y)));
  return most;
}

}  // namespace

TEST_CASE("elevations: degrees stand where the projection of the run puts them, z is down", "[io]") {
  const model::MappedRun run = turned_run();
  const Surface surface = read(table());
  const geodesy::Projection projection({middle});
  for (const auto& [x_m, y_m] : {std::pair{0.0, 0.0}, {2000.0, -4000.0}, {-4000.0, 2000.0}}) {
    const auto place = on_map(run.frame, {x_m, y_m, 0.0});
    const auto globe = projection.to_geographic({{place.north_m, place.east_m}}).front();
    CHECK(surface.z_at(x_m, y_m) == Approx(-elevation_m(globe)).margin(0.1));
  }
  CHECK(surface.x_m() == run.grid.edges().x_m);
}

TEST_CASE("elevations: tables and grids by corner or centre, longitudes from 0 to 360, are one surface",
          "[io]") {
  const Surface surface = read(table());
  CHECK(apart_m(surface, read(table(-360.0))) < 1e-6);
  CHECK(apart_m(surface, read(grid(true))) < 1e-6);
  CHECK(apart_m(surface, read(grid(false))) < 1e-6);
  CHECK(apart_m(surface, read(tests::replaced(grid(true), "cellsize 0.005", "dx 0.005\ndy 0.005"))) < 1e-6);
  CHECK(apart_m(surface, read(grid(true, 20))) < 1.0);
}

TEST_CASE("elevations: a grid in metres counts east and north, with and without a projection", "[io]") {
  std::string text = "ncols 20\nnrows 20\nxllcorner -10000\nyllcorner -9500\ncellsize 1000\n";
  for (int i = 0; i < 20; ++i) {
    for (int j = 0; j < 20; ++j)
      text += fmt::format("{} ", 0.01 * (-9500 + 1000 * j) + 0.02 * (10000 - 1000 * i));
    text += "\n";
  }
  model::MappedRun run = turned_run();
  const auto check = [&](const Surface& surface) {
    for (const auto& [x_m, y_m] : {std::pair{0.0, 0.0}, {2000.0, -4000.0}}) {
      const auto place = on_map(run.frame, {x_m, y_m, 0.0});
      CHECK(surface.z_at(x_m, y_m) == Approx(-0.01 * place.east_m - 0.02 * place.north_m).margin(1e-6));
    }
  };
  check(read(text, run));
  run.frame = {.azimuth_deg = 120.0};
  check(read(text, run));
}

TEST_CASE("elevations: maps that cannot stand under the run are refused", "[io]") {
  using core::InvalidArgument;
  model::MappedRun nowhere = turned_run();
  nowhere.frame.projection.clear();
  for (const std::string& text : {table(), grid(true)})
    CHECK_THAT(refusal<InvalidArgument>(text, nowhere),
               tests::HasId("no_place_on_globe", {"dem.txt", "x_m,y_m,z_m"}));
  CHECK_THAT(refusal<InvalidArgument>(table(1.0)),
             tests::HasId("sites_beside_map", {"dem.txt", "1 of 1", "s1", "longitudes 16.8750 … 17.1250"}));
  CHECK_THAT(refusal<InvalidArgument>("latitude_deg,longitude_deg,elevation_m\n"),
             tests::HasId("sites_beside_map", {"no point"}));
  model::MappedRun aside = turned_run();
  aside.sites.push_back({.name = "far", .at = {30000.0, 0.0, 0.0}});
  CHECK_THAT(refusal<InvalidArgument>(table(), aside), tests::HasId("sites_beside_map", {"1 of 2", "far"}));
}

TEST_CASE("elevations: broken tables are refused with their line", "[io]") {
  const auto with = [](const std::string& row) {
    return refusal("# SRTM\nlatitude_deg,longitude_deg,elevation_m\n-20,16,0\n" + row);
  };
  CHECK_THAT(with("95,16,0\n"), tests::HasId("not_on_globe", {"dem.txt:4", "95", "swapped"}));
  CHECK_THAT(with("-20,400,0\n"), tests::HasId("not_on_globe", {"dem.txt:4", "400"}));
  CHECK_THAT(with("-20,16,-32768\n"), tests::HasId("no_elevation", {"dem.txt:4", "-32768", "leave out"}));
  CHECK_THAT(with("-20,16,\n"), tests::HasId("not_a_number", {"dem.txt:4", "elevation_m"}));
  CHECK_THAT(with("-20,16\n"), tests::HasId("wrong_fields", {"dem.txt:4", "3 fields"}));
  CHECK_THAT(refusal("latitude_deg,longitude_deg,height\n"), tests::HasId("wrong_header", {"dem.txt:1"}));
  CHECK_THAT(refusal("latitude_deg,longitude_deg,elevation_m,id\n"),
             tests::HasId("wrong_header", {"dem.txt:1", "no others"}));
}

TEST_CASE("elevations: broken ESRI grids are refused", "[io]") {
  const std::string good = "ncols 3\nnrows 2\nxllcorner 15\nyllcorner -21\ncellsize 1\n1 2 3\n4 5 6\n";
  const auto with = [&](const std::string& from, const std::string& to) {
    return refusal(tests::replaced(good, from, to));
  };
  CHECK_THAT(with("4 5 6\n", ""), tests::HasId("wrong_count", {"dem.txt", "6", "3"}));
  CHECK_THAT(with("4 5 6\n", "4 5\n"), tests::HasId("wrong_count", {"dem.txt", "6", "5"}));
  CHECK_THAT(with("4 5 6\n", "4 5 6\n7 8 9\n"), tests::HasId("wrong_count", {"dem.txt", "6", "9"}));
  CHECK_THAT(with("1 2 3\n", "1 x 3\n"), tests::HasId("not_a_number", {"dem.txt:6", "x"}));
  CHECK_THAT(with("cellsize 1\n", ""), tests::HasId("wrong_head", {"dem.txt", "cellsize"}));
  CHECK_THAT(with("1 2 3\n", "1 -32768 3\n"), tests::HasId("no_elevation", {"dem.txt", "1", "-32768"}));
  CHECK_THAT(with("yllcorner -21", "yllcorner 89"), tests::HasId("not_on_globe", {"dem.txt", "1", "90.5"}));
}

TEST_CASE("elevations: rasters stand where their own system puts them, in their own units", "[io]") {
  const geodesy::Projection utm = geodesy::Projection::from_definition("EPSG:32733");
  const auto centre = utm.to_plane({middle}).front();
  constexpr int n = 60;
  constexpr double pixel_m = 500.0;
  raster::Raster map{.n_columns = n,
                     .n_rows = n,
                     .west = centre.east_m - 0.5 * n * pixel_m,
                     .north = centre.north_m + 0.5 * n * pixel_m,
                     .pixel = pixel_m,
                     .system = "EPSG:32733",
                     .bands = {{"elevation", {}}}};
  for (int row = 0; row < n; ++row)
    for (int column = 0; column < n; ++column)
      map.bands[0].values.push_back(static_cast<float>(
          elevation_m(utm.to_geographic({{map.north_of(row), map.east_of(column)}}).front())));
  const tests::TemporaryFolder folder;
  raster::write_geotiff(folder / "dem.tif", map);
  CHECK(model::is_elevation_map(folder / "dem.tif"));
  const Surface surface = model::read_elevation_map(folder / "dem.tif", turned_run());
  CHECK(apart_m(read(table()), surface) < 0.2);
}
