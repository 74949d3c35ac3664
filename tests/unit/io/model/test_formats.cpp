// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/geodesy/map_system.hpp"
#include "io/model/read.hpp"
#include "io/model/write.hpp"
#include "io/model/xyz.hpp"
#include "io/raster/raster.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/text_fixture.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;
using model::ModelFormat;
using model::PlacedModel;
using physics::mesh::DepthReference;
using physics::mesh::Scale;
using physics::mesh::Surface;
using physics::mesh::TensorGrid;

namespace {

Eigen::VectorXd values_of(const TensorGrid& grid, Scale scale) {
  Eigen::VectorXd values(grid.n_cells());
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    const double log = 1.0 + std::sin(1.7 * static_cast<double>(i));
    values[i] = scale == Scale::log10 ? log : std::pow(10.0, log);
  }
  return values;
}

/// Returns a volume with uneven cells at a place of the map, under a relief and a sea where asked for.
PlacedModel volume(Scale scale, bool has_relief = false) {
  TensorGrid grid({.x_m = {-1000.1, -250.0, 300.0, 1200.7},
                   .y_m = {-700.0, 0.1, 333.3},
                   .z_m = {0.0, 12.3, 100.1, 912.0}});
  Eigen::VectorXd values = values_of(grid, scale);
  PlacedModel placed{{{std::move(grid)}, {.scale = scale}, std::move(values)},
                     geodesy::frame_at({38.5, -117.9}, 1203.4, 90.0)};
  if (!has_relief) return placed;
  Eigen::MatrixXd z_m(2, 3);
  z_m << -100.0, 40.2, 5.5, 60.1, -20.0, 30.0;
  placed.model.earth.surface = Surface({-500.0, 700.0}, {-600.0, 0.0, 200.0}, z_m);
  placed.model.earth.sea = physics::mesh::Sea{-10.0, 0.29};
  return placed;
}

PlacedModel section(Scale scale) {
  TensorGrid grid =
      TensorGrid::section({-500.3, -20.0, 77.7, 900.0}, {-300.0, -10.0, 55.5, 400.0}, DepthReference::datum);
  Eigen::VectorXd values = values_of(grid, scale);
  return {{{std::move(grid), physics::mesh::SurfaceLine({-100.0, 50.0}, {-200.0, 10.0})},
           {.scale = scale},
           std::move(values)}};
}

PlacedModel flat_section(Scale scale) {
  TensorGrid grid = TensorGrid::section({0.0, 480.3, 577.7, 900.0}, {0.0, 55.5, 400.0});
  Eigen::VectorXd values = values_of(grid, scale);
  return {{{std::move(grid)}, {.scale = scale}, std::move(values)}};
}

PlacedModel through(const PlacedModel& placed, const std::string& name, ModelFormat format,
                    const model::ModelWriteOptions& options = {}) {
  const TemporaryFolder folder;
  static_cast<void>(model::write_model(folder / name, placed, format, options));
  return model::read_placed_model(folder / name);
}

/// Checks that a model came back with the same bits.
void check_same(const PlacedModel& got, const PlacedModel& expected) {
  const auto &a = got.model.earth, &b = expected.model.earth;
  CHECK(a.grid.edges().x_m == b.grid.edges().x_m);
  CHECK(a.grid.y_edges_m() == b.grid.y_edges_m());
  CHECK(a.grid.z_edges_m() == b.grid.z_edges_m());
  CHECK(a.grid.reference() == b.grid.reference());
  CHECK(a.surface.x_m() == b.surface.x_m());
  CHECK(a.surface.y_m() == b.surface.y_m());
  CHECK(a.surface.z_m() == b.surface.z_m());
  CHECK(a.sea.has_value() == b.sea.has_value());
  if (a.sea && b.sea) {
    CHECK(a.sea->level_m == b.sea->level_m);
    CHECK(a.sea->resistivity_ohm_m == b.sea->resistivity_ohm_m);
  }
  CHECK(got.model.property.scale == expected.model.property.scale);
  CHECK(got.model.values == expected.model.values);
  CHECK(got.frame.projection == expected.frame.projection);
  CHECK(got.frame.origin_north_m == expected.frame.origin_north_m);
  CHECK(got.frame.elevation_m == expected.frame.elevation_m);
}

core::Error xyz_refusal(const std::string& text) {
  const TemporaryFolder folder;
  const std::string path = write_text(folder, "m.xyz", text);
  return error_of<core::FormatError>([&] { static_cast<void>(model::read_xyz(path)); });
}

core::Error cells_refusal(const std::string& text) {
  const TemporaryFolder folder;
  const std::string path = write_text(folder, "m.toml", text);
  return error_of<core::ConfigError>([&] { static_cast<void>(model::read_placed_model(path)); });
}

}  // namespace

TEST_CASE("models: HDF5, TOML and XYZ bring sections and volumes back with all bits", "[model]") {
  for (const Scale scale : {Scale::linear, Scale::log10}) {
    for (const PlacedModel& placed : {volume(scale), volume(scale, true), flat_section(scale)}) {
      check_same(through(placed, "m.h5", ModelFormat::hdf5), placed);
      check_same(through(placed, "m.toml", ModelFormat::toml), placed);
    }
    check_same(through(section(scale), "m.toml", ModelFormat::toml), section(scale));
  }
  for (const PlacedModel& placed :
       {volume(Scale::log10), volume(Scale::log10, true), flat_section(Scale::log10)})
    check_same(through(placed, "m.xyz", ModelFormat::xyz), placed);
}

TEST_CASE("models: each format brings back what it holds with the same bits", "[model]") {
  for (const Scale scale : {Scale::linear, Scale::log10}) {
    for (const auto& [name, format] : {std::pair{"m.rho", ModelFormat::modem},
                                       {"m.sg", ModelFormat::gocad},
                                       {"m.xyz", ModelFormat::xyz},
                                       {"w", ModelFormat::wsinv}}) {
      const PlacedModel once = through(volume(scale), name, format);
      check_same(through(once, name, format), once);
      CHECK((log10_resistivity(once.model) - log10_resistivity(volume(scale).model)).cwiseAbs().maxCoeff() <
            1e-14);
      CHECK(once.model.earth.grid.edges().x_m == volume(scale).model.earth.grid.edges().x_m);
    }
    for (const auto& [name, format] :
         {std::pair{"m.rho", ModelFormat::modem}, {"m.iter", ModelFormat::occam2d}}) {
      PlacedModel placed = flat_section(scale);
      if (format == ModelFormat::occam2d)
        placed.model.earth.grid = TensorGrid::section({-733.3, 480.3, 577.7, 900.0}, {0.0, 55.5, 400.0});
      const PlacedModel once = through(placed, name, format);
      check_same(through(once, name, format), once);
      for (std::size_t i = 0; i < 4; ++i)  // Occam2D has a width and an offset for the leftmost edge
        CHECK(once.model.earth.grid.y_edges_m()[i] ==
              Approx(placed.model.earth.grid.y_edges_m()[i]).margin(1e-12));
      CHECK((log10_resistivity(once.model) - log10_resistivity(placed.model)).cwiseAbs().maxCoeff() < 1e-14);
    }
  }
  const PlacedModel draped = through(volume(Scale::log10, true), "m.sg", ModelFormat::gocad);
  CHECK(draped.model.earth.surface.is_map());
  CHECK(draped.model.earth.surface.z_at(300.0, 0.1) ==
        Approx(volume(Scale::log10, true).model.earth.surface.z_at(300.0, 0.1)));
  check_same(through(draped, "m.sg", ModelFormat::gocad), draped);
}

TEST_CASE("models: cells above the surface have no row of XYZ and take the number below", "[model]") {
  const PlacedModel placed = section(Scale::log10);
  const PlacedModel got = through(placed, "m.xyz", ModelFormat::xyz);
  const TensorGrid& grid = placed.model.earth.grid;
  CHECK(got.model.values.tail(2 * grid.n_y()) == placed.model.values.tail(2 * grid.n_y()));
  CHECK(got.model.values[grid.index(0, 2)] == placed.model.values[grid.index(1, 2)]);  // above z = 10
  CHECK(got.model.values[grid.index(0, 0)] == placed.model.values[grid.index(0, 0)]);
}

TEST_CASE("models: cells of air and water stand for a relief and a sea in ModEM's files", "[model]") {
  const PlacedModel placed = volume(Scale::log10, true);
  const auto& earth = placed.model.earth;
  const PlacedModel got = through(placed, "m.rho", ModelFormat::modem);
  const TensorGrid& grid = got.model.earth.grid;
  CHECK(got.model.earth.surface.is_flat());
  CHECK(got.model.earth.surface.highest_m() == earth.surface.highest_m());
  CHECK(grid.edges().x_m == earth.grid.edges().x_m);
  int n_air = 0, n_water = 0;
  for (int iz = 0; iz < grid.n_z(); ++iz)
    for (int iy = 0; iy < grid.n_y(); ++iy)
      for (int ix = 0; ix < grid.n_x(); ++ix) {
        const double x = grid.centre_m(physics::mesh::Axis::x, ix), y = grid.y_centre_m(iy),
                     z = got.model.earth.surface.highest_m() + grid.z_centre_m(iz),
                     surface = earth.surface.z_at(x, y), ohm_m = got.model.values[grid.index(iz, iy, ix)];
        const bool is_open = z < surface, is_water = is_open && z > earth.sea->level_m;
        n_air += is_open && !is_water ? 1 : 0;
        n_water += is_water ? 1 : 0;
        const double expected =
            is_water  ? earth.sea->resistivity_ohm_m
            : is_open ? 1e12
                      : std::pow(10.0, placed.model.values[earth.grid.nearest({x, y, z - surface})]);
        CHECK(ohm_m == Approx(expected));
      }
  CHECK(n_air > 5);
  CHECK(n_water > 5);
}

TEST_CASE("models: maps of a GeoTIFF have the cell at their depth", "[model]") {
  const TemporaryFolder folder;
  const PlacedModel placed = volume(Scale::log10);
  static_cast<void>(model::write_model(folder / "m.tif", placed, ModelFormat::geotiff,
                                       {.system = "EPSG:32611", .depths_m = {50.0}, .pixel_m = 90.0}));
  // Its numbers are read as elevations where it does not say that they are none.
  std::string bytes = text::read_bytes(folder / "m.tif");
  const std::string units = "log10(ohm m)", others = "metres      ";
  REQUIRE(bytes.find(units) != std::string::npos);
  text::write_bytes_atomically(folder / "m.tif", bytes.replace(bytes.find(units), units.size(), others));
  const geodesy::MapSystem degrees(placed.frame, "EPSG:4326");
  const TensorGrid& grid = placed.model.earth.grid;
  int n = 0, n_beside = 0;
  raster::ElevationRaster(folder / "m.tif").visit([&](const raster::Pixel& pixel, int) {
    auto at = degrees.points({{pixel.east, pixel.north, 0.0}}).front();
    at.z_m = 50.0;  // in the second layer
    if (grid.at(at) < 0) {
      ++n_beside;
      CHECK(std::isnan(pixel.elevation_m));
      return;
    }
    ++n;
    CHECK(pixel.elevation_m == Approx(placed.model.values[grid.at(at)]).epsilon(1e-6));
  });
  CHECK(n > 200);
  CHECK(n_beside > 0);
}

TEST_CASE("models: what a format does not hold is said in words", "[model]") {
  const TemporaryFolder folder;
  const auto lost = [&](const char* name, const PlacedModel& placed) {
    return fmt::format(
        "{}",
        fmt::join(model::write_model(folder / name, placed, *model::model_format_of_ending(name)), "; "));
  };
  CHECK(lost("m.rho", volume(Scale::log10)) == "the place on the map");
  CHECK(lost("m.toml", volume(Scale::log10, true)).empty());
  CHECK_THAT(lost("m.sg", volume(Scale::log10, true)),
             Catch::Contains("sea") && Catch::Contains("place on the map"));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { lost("m.iter", section(Scale::log10)); }),
             HasId("has_topography", {"m.iter"}));
  CHECK_THAT(lost("m.vtu", volume(Scale::log10)), Catch::Contains("not read back"));
  PlacedModel aside = flat_section(Scale::log10);
  aside.model.earth.grid = TensorGrid::section({100.0, 200.0, 300.0, 400.0}, {0.0, 55.5, 400.0});
  CHECK_THAT(lost("m.rho", aside), Catch::Contains("left edge, 100 m"));
  CHECK_THAT(lost("m.rho", volume(Scale::log10, true)), Catch::Contains("air") && Catch::Contains("steps"));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { lost("m.sg", section(Scale::log10)); }),
             HasId("not_a_volume", {}));
}

TEST_CASE("models: XYZ in degrees has the place of each cell and its depth", "[model]") {
  const TemporaryFolder folder;
  const PlacedModel placed = volume(Scale::log10, true);
  const auto lost = model::write_model(folder / "m.xyz", placed, ModelFormat::xyz, {.system = "EPSG:4326"});
  CHECK_THAT(lost.at(0), Catch::Contains("not read back"));
  const std::string text = text::read_text(folder / "m.xyz");
  const auto lines = text::split_lines(text);
  REQUIRE(lines.size() == 2 + 18);
  CHECK(lines[1] == "longitude_deg latitude_deg depth_m log10_resistivity");
  const auto words = text::words(lines[2]);
  const double north_m = -0.5 * (1000.1 + 250.0), east_m = -349.95;
  CHECK(*text::number(words[1]) == Approx(38.5 + north_m / 110998.0).margin(1e-6));
  CHECK(*text::number(words[0]) == Approx(-117.9 + east_m / 87216.0).margin(1e-5));
  CHECK(*text::number(words[2]) == Approx(6.15));
  CHECK(*text::number(words[3]) == placed.model.values[0]);
  CHECK_THAT(
      error_of<core::FormatError>([&] { static_cast<void>(model::read_placed_model(folder / "m.xyz")); }),
      HasId("wrong_columns", {"m.xyz:2"}));
  PlacedModel nowhere = placed;
  nowhere.frame = {};
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               static_cast<void>(
                   model::write_model(folder / "n.xyz", nowhere, ModelFormat::xyz, {.system = "EPSG:4326"}));
             }),
             HasId("no_place_on_map", {"EPSG:4326", "--origin"}));
}

TEST_CASE("models: a lattice of points in any order becomes cells half-way between them", "[model]") {
  const TemporaryFolder folder;
  const std::string path = write_text(folder, "m.xyz",
                                      "# from "
                                      "elsewhere\ny_m,z_m,resistivity_ohm_m\n0,100,5\n0,300,6\n-200,300,7\n-"
                                      "200,100,8\n100,100,9\n100,300,10\n");
  const auto model = model::read_placed_model(path).model;
  CHECK(model.earth.grid.y_edges_m() == std::vector<double>{-300.0, -100.0, 50.0, 150.0});
  CHECK(model.earth.grid.z_edges_m() == std::vector<double>{0.0, 200.0, 400.0});
  CHECK(std::vector<double>(model.values.begin(), model.values.end()) ==
        std::vector<double>{8, 5, 9, 7, 6, 10});
  CHECK_THAT(xyz_refusal("y_m z_m log10_resistivity\n0 1 2\n0 2 2\n1 1 2\n1 1 3\n"),
             HasId("point_twice", {"m.xyz:5"}));
  CHECK_THAT(xyz_refusal("y_m z_m log10_resistivity\n0 1 2\n0 2 2\n1 1 2\n"),
             HasId("missing_points", {"1", "2", "3"}));
  CHECK_THAT(xyz_refusal("y_m z_m log10_resistivity\n0 1 2\n0 2 20\n"),
             HasId("resistivity_out_of_range", {"m.xyz:3"}));
  CHECK_THAT(xyz_refusal("y_m z_m log10_resistivity\n0 1\n"), HasId("wrong_row", {"m.xyz:2"}));
  CHECK_THAT(xyz_refusal("y_m log10_resistivity\n"), HasId("wrong_columns", {"m.xyz:1"}));
  CHECK_THAT(xyz_refusal(",\n"), HasId("wrong_columns", {"m.xyz:1"}));
  CHECK_THAT(xyz_refusal("y_m z_m log10_resistivity\n"), HasId("no_rows", {}));
}

TEST_CASE("models: rows of XYZ that left the order of its comments are refused", "[model]") {
  const TemporaryFolder folder;
  static_cast<void>(model::write_xyz(folder / "m.xyz", flat_section(Scale::log10)));
  const std::string text = text::read_text(folder / "m.xyz");
  const auto lines = text::split_lines(text);
  const std::string last(lines.back());
  CHECK_THAT(xyz_refusal(text::read_text(folder / "m.xyz").substr(0, text.size() - last.size() - 1)),
             HasId("too_few_rows", {"5"}));
  CHECK_THAT(xyz_refusal(text + last + "\n"), HasId("too_many_rows", {"6"}));
  CHECK_THAT(xyz_refusal(replaced(text, " 27.75 ", " 27.7 ")), HasId("other_order", {"27.75", "27.7"}));
}

TEST_CASE("models: broken [cells] are refused with their line", "[model]") {
  const std::string good = "[cells]\ny_m = [0, 1, 2]\nz_m = [0, 1]\nresistivity_ohm_m = [1, 2]\n";
  CHECK_THAT(cells_refusal(replaced(good, "[1, 2]", "[1, 2, 3]")), HasId("wrong_count", {"m.toml:4", "3"}));
  CHECK_THAT(cells_refusal(replaced(good, "[1, 2]", "[1, 0]")), HasId("out_of_range", {"m.toml:4", "0"}));
  CHECK_THAT(cells_refusal(replaced(good, "[0, 1, 2]", "[0, 2, 1]")), HasId("wrong_edges", {"m.toml:1"}));
  CHECK_THAT(cells_refusal("dimension = 3\n" + good), HasId("other_dimension", {"m.toml:2"}));
  CHECK_THAT(cells_refusal(good + "log10_resistivity = [1, 2]\n"), HasId("no_values", {"m.toml:1", "2"}));
  CHECK_THAT(cells_refusal(good + "[background]\nresistivity_ohm_m = [1]\n"),
             HasId("shapes_beside_cells", {"background"}));
}
