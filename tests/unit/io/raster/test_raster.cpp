// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/raster/raster.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/text_fixture.hpp"

#include <cmath>
#include <limits>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;

namespace {

constexpr float no_data = std::numeric_limits<float>::quiet_NaN();

/// Returns two rows of three pixels of 100 m in UTM zone 11 north, one of them without data.
raster::Raster example() {
  return {.n_columns = 3,
          .n_rows = 2,
          .west = 400000.0,
          .north = 4260200.0,
          .pixel = 100.0,
          .system = "EPSG:32611",
          .bands = {{"elevation", {1.5F, 2.5F, 3.5F, 4.5F, no_data, 6.5F}}}};
}

std::vector<raster::Pixel> pixels_of(const std::string& path) {
  std::vector<raster::Pixel> pixels;
  raster::ElevationRaster(path).visit([&](const raster::Pixel& pixel, int) { pixels.push_back(pixel); });
  return pixels;
}

}  // namespace

TEST_CASE("raster: a GeoTIFF comes back at its places on the globe, with its holes", "[raster]") {
  const TemporaryFolder folder;
  raster::write_geotiff(folder / "a.tif", example());
  CHECK(raster::is_raster(folder / "a.tif"));
  CHECK(raster::format_of(folder / "a.tif") == "GeoTIFF");
  const raster::ElevationRaster file(folder / "a.tif");
  CHECK(file.is_on_globe());
  CHECK(file.n_columns() == 3);
  CHECK(file.n_rows() == 2);
  CHECK(file.width() == 300.0);
  const auto pixels = pixels_of(folder / "a.tif");
  REQUIRE(pixels.size() == 6);
  CHECK(pixels[0].elevation_m == 1.5);
  CHECK(std::isnan(pixels[4].elevation_m));
  // 400050 m east, 4260150 m north by the series of Snyder (1987), eqs. 8-9 and 8-10
  CHECK(pixels[0].north == Approx(38.4840891).margin(1e-6));
  CHECK(pixels[0].east == Approx(-118.1459741).margin(1e-6));
  CHECK(pixels[1].east > pixels[0].east);
  CHECK(pixels[3].north < pixels[0].north);
}

TEST_CASE("raster: a GeoTIFF states its quantity, and one of another quantity gives no elevations",
          "[raster]") {
  const TemporaryFolder folder;
  raster::write_geotiff(folder / "a.tif", example());
  CHECK(raster::facts_of(folder / "a.tif").quantity.empty());
  CHECK_FALSE(raster::facts_of(folder / "a.tif").is_of_elevations);
  raster::Raster maps = example();
  maps.quantity = "log10 resistivity";
  maps.units = "log10(ohm m)";
  raster::write_geotiff(folder / "r.tif", maps);
  const raster::RasterFacts facts = raster::facts_of(folder / "r.tif");
  CHECK(facts.format == "GeoTIFF");
  CHECK(facts.quantity == "log10 resistivity");
  CHECK(facts.units == "log10(ohm m)");
  CHECK(facts.bands == std::vector<std::string>{"elevation"});
  CHECK(facts.n_columns == 3);
  CHECK_FALSE(facts.is_of_elevations);
  CHECK_THAT(error_of<core::FormatError>([&] { raster::ElevationRaster file(folder / "r.tif"); }),
             HasId("unknown_unit", {"log10 resistivity", "log10(ohm m)"}));
  maps.quantity.clear();
  maps.units = "m";
  raster::write_geotiff(folder / "e.tif", maps);
  CHECK(raster::facts_of(folder / "e.tif").is_of_elevations);
}

TEST_CASE("raster: the head of an ESRI grid is told what it lacks", "[raster]") {
  const TemporaryFolder folder;
  const auto refuses = [&](const std::string& head, const char* lacking) {
    const std::string path = write_text(folder, "a.asc", head + "1 2\n");
    CHECK_THAT(error_of<core::FormatError>([&] { raster::ElevationRaster file(path); }),
               HasId("wrong_head", {"lacks " + std::string(lacking)}));
  };
  refuses("ncols 2\nnrows 1\nxllcorner 0\nyllcorner 0\ncelsize 1\n", "cellsize");
  refuses("ncols 2\nnrow 1\nxllcorner 0\nyllcorner 0\ncellsize 1\n", "nrows");
  refuses("ncols two\nnrows 1\nxllcorner 0\nyllcorner 0\ncellsize 1\n", "ncols");
}

TEST_CASE("raster: texts without a system keep their numbers", "[raster]") {
  const TemporaryFolder folder;
  const std::string grid =
      write_text(folder, "a.asc",
                 "ncols 2\nnrows 2\nxllcorner 10\nyllcorner 50\ncellsize 2\nNODATA_value -1\n1 2\n-1 4\n");
  CHECK_FALSE(raster::ElevationRaster(grid).is_on_globe());
  const auto pixels = pixels_of(grid);
  REQUIRE(pixels.size() == 4);
  CHECK(pixels[0].east == 11.0);
  CHECK(pixels[0].north == 53.0);
  CHECK(std::isnan(pixels[2].elevation_m));
  const std::string points =
      write_text(folder, "a.xyz", "0 30 1\n10 30 2\n20 30 3\n0 20 4\n10 20 5\n20 20 6\n");
  CHECK(raster::is_raster(points));
  const auto read = pixels_of(points);
  REQUIRE(read.size() == 6);
  CHECK(read[4].east == 10.0);
  CHECK(read[4].north == 20.0);
  CHECK(read[4].elevation_m == 5.0);
}

TEST_CASE("raster: points that would span a grid without end are a format error", "[raster]") {
  const TemporaryFolder folder;
  const std::string far = write_text(folder, "far.xyz", "10000000000 0 303\n0 20 4\n10 20 5\n");
  CHECK_THAT(error_of<core::FormatError>([&] { raster::ElevationRaster file(far); }),
             HasId("not_a_grid", {far, "1000000001 x 2", "33 bytes"}));
}

TEST_CASE("raster: an ASCII grid of more numbers than its file has bytes is a format error", "[raster]") {
  const TemporaryFolder folder;
  const std::string cut =
      write_text(folder, "cut.asc", "NCOLS 3\nnrows 1000000\nxllcorner 1\nyllcorner 2\ncellsize 1\n1 2 3\n");
  CHECK_THAT(error_of<core::FormatError>([&] { raster::ElevationRaster file(cut); }),
             HasId("wrong_count", {cut, "3 x 1000000", "63 bytes"}));
}

TEST_CASE("raster: other files are none", "[raster]") {
  const TemporaryFolder folder;
  for (const char* text : {"", "site,y_m\na,0\n", "1 2 3 4\n5 6 7 8\n", "y z\n0 1\n",
                           "x_m y_m z_m log10_resistivity\n0 0 0 1\n"})
    CHECK_FALSE(raster::is_raster(write_text(folder, "x.txt", text)));
  CHECK_THAT(error_of<core::FormatError>([&] { raster::ElevationRaster file(folder / "x.txt"); }),
             HasId("not_a_raster", {folder / "x.txt"}));
  CHECK_THAT(error_of<core::FileError>([&] { raster::ElevationRaster file(folder / "none.tif"); }),
             HasId("no_file", {}));
  auto wrong = example();
  wrong.system = "nowhere";
  CHECK_THAT(error_of<core::InvalidArgument>([&] { raster::write_geotiff(folder / "w.tif", wrong); }),
             HasId("wrong_system", {"nowhere"}));
}
