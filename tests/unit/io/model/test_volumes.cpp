// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/hdf5/file.hpp"
#include "io/hdf5/format.hpp"
#include "io/info/info.hpp"
#include "io/model/hdf5.hpp"
#include "io/model/read.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/text_fixture.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;
using physics::mesh::Axis;
using physics::mesh::DepthReference;
using physics::mesh::Model;

namespace {

const std::string half_space = "dimension = 3\n[background]\nresistivity_ohm_m = [100.0]\n";
const std::string prism = "[[prism]]\nresistivity_ohm_m = 1.0\nz_min_m = 500\nz_max_m = 900\npoints = ";

Model model_of(const std::string& text, double refine = 1.0) {
  const TemporaryFolder folder;
  return model::read_model_toml(write_text(folder, "m.toml", text), refine);
}

core::Error refusal(const std::string& text, double refine = 1.0) {
  return error_of<core::ConfigError>([&] { (void)model_of(text, refine); });
}

double at(const Model& model, double x_m, double y_m, double z_m) {
  return model.values[model.earth.grid.nearest({x_m, y_m, z_m})];
}

/// The lines of a grid between its outermost ones.
std::vector<double> inner(const Model& model, Axis axis) {
  const std::vector<double>& edges = model.earth.grid.edges_m(axis);
  return {edges.begin() + 1, edges.end() - 1};
}

/// The volume of a body of 1 ohm m in 100 ohm m, by conductivity.
double body_m3(const Model& model) {
  const auto& grid = model.earth.grid;
  double volume = 0.0;
  for (int iz = 0; iz < grid.n_z(); ++iz) {
    for (int iy = 0; iy < grid.n_y(); ++iy) {
      for (int ix = 0; ix < grid.n_x(); ++ix)
        volume += (1.0 / model.values[grid.index(iz, iy, ix)] - 0.01) / 0.99 * grid.width_m(Axis::x, ix) *
                  grid.width_m(Axis::y, iy) * grid.width_m(Axis::z, iz);
    }
  }
  return volume;
}

/// The TOML of a section of a page.
std::string example_of(const std::string& page, const std::string& heading) {
  const std::string text = text_of_file(source_path(page)), fence = "```toml\n";
  const auto begin = text.find(fence, text.find("\n" + heading + "\n")) + fence.size();
  return text.substr(begin, text.find("```", begin) - begin);
}

}  // namespace

TEST_CASE("TOML volume: boxes stand between their faces, or reach without end along an axis", "[toml]") {
  const auto v = model_of(
      "dimension = 3\n[background]\nthickness_m = [1000]\nresistivity_ohm_m = [10, 100]\n"
      "[[box]]\nx_min_m = -300\nx_max_m = 400\ny_min_m = -500\ny_max_m = 500\nz_min_m = 250\nz_max_m = "
      "2250\nresistivity_ohm_m = 0.5\n"
      "[[box]]\nx_min_m = 100\nz_min_m = 250\nz_max_m = 300\nresistivity_ohm_m = 7\n");
  CHECK(v.earth.grid.dimension() == 3);
  CHECK(inner(v, Axis::x) == std::vector<double>{-300, 100, 400});
  CHECK(inner(v, Axis::y) == std::vector<double>{-500, 500});
  CHECK(v.earth.grid.z_edges_m().front() == 0.0);
  CHECK(inner(v, Axis::z) == std::vector<double>{250, 300, 1000, 2250});
  CHECK(at(v, 0, 0, 260) == 0.5);
  CHECK(at(v, 0, 0, 2000) == 0.5);
  CHECK(at(v, 200, 0, 260) == 7.0);
  CHECK(at(v, 1e9, -1e9, 260) == 7.0);
  CHECK(at(v, -400, 0, 260) == 10.0);
  CHECK(at(v, 500, 0, 310) == 10.0);
  CHECK(at(v, 0, 600, 2000) == 100.0);
  CHECK(v.earth.grid.reference() == DepthReference::surface);
  CHECK(model_of(half_space).earth.grid.n_cells() == 1);
}

TEST_CASE("TOML volume: a section with dimension = 3 is the same at every x", "[toml]") {
  const std::string section =
      "resolution_m = 400\n[background]\nthickness_m = [900]\nresistivity_ohm_m = [10, 100]\n[surface]\n"
      "points = [[-2000, 0], [0, -300], [2500, 100]]\n"
      "[[box]]\ny_min_m = -700\ny_max_m = 300\nz_min_m = 100\nz_max_m = 700\nresistivity_ohm_m = 3\n"
      "[[polygon]]\npoints = [[0, 300], [2000, 500], [900, 1400]]\nresistivity_ohm_m = 1\n"
      "[[polygon]]\npoints = [[0, 500], [2000, 300], [900, 1500]]\nresistivity_ohm_m = 30\n";
  const Model flat = model_of(section), volume = model_of("dimension = 3\n" + section +
                                                          "[[box]]\nx_min_m = 10\nx_max_m = 20\n"
                                                          "z_max_m = 100\nresistivity_ohm_m = 3\n");
  CHECK(volume.earth.grid.y_edges_m() == flat.earth.grid.y_edges_m());
  CHECK(volume.earth.grid.n_x() == 3);
  CHECK(volume.earth.grid.reference() == DepthReference::datum);
  CHECK_FALSE(volume.earth.surface.is_map());
  int n_below = 0;
  for (int iz = 0; iz < flat.earth.grid.n_z(); ++iz) {
    if (flat.earth.grid.z_centre_m(iz) < 100.0) continue;
    for (int iy = 0; iy < flat.earth.grid.n_y(); ++iy, ++n_below) {
      for (int ix = 0; ix < 3; ++ix)
        CHECK(volume.values[volume.earth.grid.index(iz, iy, ix)] ==
              flat.values[flat.earth.grid.index(iz, iy)]);
    }
  }
  CHECK(n_below > 100);
}

TEST_CASE("TOML volume: a polygon reaches from x_min_m to x_max_m", "[toml]") {
  const auto v = model_of("resolution_m = 250\n" + half_space +
                          "[[polygon]]\npoints = [[0, 1000], [2000, 1000], [1000, 2000], [0, 2000]]\n"
                          "x_min_m = -400\nx_max_m = 600\nresistivity_ohm_m = 1.0\n");
  CHECK(inner(v, Axis::x) == std::vector<double>{-400, 600});
  CHECK(inner(v, Axis::y) == std::vector<double>{0, 1000, 1250, 1500, 1750, 2000});
  CHECK(at(v, 0, 500, 1500) == 1.0);
  CHECK(at(v, 0, 1625, 1375) == Approx(2.0 / 1.01));  // half of it
  CHECK(at(v, 700, 500, 1500) == 100.0);
  CHECK(body_m3(v) == Approx(1000.0 * 1.5e6));
  const auto open = model_of(half_space +
                             "[[polygon]]\npoints = [[0, 100], [200, 100], [100, 200]]\n"
                             "x_min_m = 50\nresistivity_ohm_m = 1.0\n");
  CHECK(at(open, 1e7, 100, 105) == 1.0);
  CHECK(at(open, 0, 100, 105) == 100.0);
}

TEST_CASE("TOML volume: lines stand on the corners of a prism, cut cells carry their mean conductivity",
          "[toml]") {
  const auto v = model_of("resolution_m = 250\n" + half_space + prism +
                          "[[1000, 0], [1000, 2000], [2000, 1000], [2000, 0]]\n");
  CHECK(inner(v, Axis::x) == std::vector<double>{1000, 1250, 1500, 1750, 2000});
  CHECK(inner(v, Axis::y) == std::vector<double>{0, 1000, 1250, 1500, 1750, 2000});
  CHECK(inner(v, Axis::z) == std::vector<double>{500, 900});
  CHECK(v.earth.grid.reference() == DepthReference::surface);
  CHECK(at(v, 1900, 900, 700) == 1.0);
  CHECK(at(v, 1375, 1625, 700) == Approx(2.0 / 1.01));  // half of it
  CHECK(at(v, 1900, 1900, 700) == 100.0);
  CHECK(at(v, 1900, 900, 400) == 100.0);
  CHECK(at(v, 1900, 900, 1000) == 100.0);
  CHECK(body_m3(v) == Approx(400.0 * 1.5e6));
  const auto open = model_of(half_space +
                             "[[prism]]\npoints = [[0, 0], [10, 0], [10, 10], [0, 10]]\n"
                             "resistivity_ohm_m = 1.0\n");
  CHECK((at(open, 5, 5, 0) == 1.0 && at(open, 5, 5, 1e7) == 1.0));
}

TEST_CASE("TOML volume: a prism of six slanted edges has at most 40 lines per axis, resolution_m overrides",
          "[toml]") {
  const std::string corners =
      "[[0, 1000], [900, 5200], [4100, 6300], [8000, 4400], [6700, 300], [3100, -900]]\n";
  const auto v = model_of(half_space + prism + corners);
  for (const Axis axis : {Axis::x, Axis::y}) {
    CHECK(v.earth.grid.edges_m(axis).size() > 30);
    CHECK(v.earth.grid.edges_m(axis).size() <= 40);
  }
  CHECK(v.earth.grid.n_z() == 3);
  const auto fine = model_of("resolution_m = 100\n" + half_space + prism + corners);
  CHECK(fine.earth.grid.n_x() > 150);
  CHECK(model_of("resolution_m = 1e5\n" + half_space + prism + corners).earth.grid.n_x() == 7);
  CHECK(model_of(half_space + prism + corners, 2.0).earth.grid.n_x() > 60);
  CHECK(body_m3(v) == Approx(body_m3(fine)));
  const auto deep = model_of(half_space + replaced(replaced(prism, "500", "50e3"), "900", "60e3") + corners);
  CHECK(deep.earth.grid.n_x() == 12);  // pieces of 50 km / 16: all edges but one are cut once
}

TEST_CASE("TOML volume: later prisms hide earlier ones and polygons, also within a cell that both cut",
          "[toml]") {
  const std::string both = "resolution_m = 1000\ndepth_reference = \"surface\"\n" + half_space +
                           "[[prism]]\npoints = [[0, 0], [1000, 0], [0, 1000]]\nresistivity_ohm_m = 1.0\n"
                           "[[prism]]\npoints = [[0, 0], [1000, 0], [0, 1000]]\nresistivity_ohm_m = 10.0\n";
  CHECK(at(model_of(both), 500, 500, 500) == Approx(2.0 / 0.11).epsilon(0.1));  // the first is not seen
  const std::string crossing = half_space +
                               "[[prism]]\npoints = [[0, 0], [1000, 0], [0, 1000]]\nz_max_m = 1000\n"
                               "resistivity_ohm_m = 1.0\n"
                               "[[polygon]]\npoints = [[0, 0], [1000, 0], [0, 1000]]\nx_min_m = 0\n"
                               "x_max_m = 1000\nresistivity_ohm_m = 10.0\n";
  const double half_seen = 0.5 * 1.0 + 0.5 * (0.5 * 0.1 + 0.5 * 0.01);  // prism, polygon, background
  CHECK(at(model_of("resolution_m = 1000\n" + crossing), 500, 500, 500) ==
        Approx(1.0 / half_seen).epsilon(0.1));
}

TEST_CASE("TOML volume: a surface on a grid of points, bilinear and level beyond", "[toml]") {
  const std::string grid =
      "[surface]\nx_m = [-1000, 500]\ny_m = [0, 1000, 3000]\nz_m = [[0, -100, 20],\n [30, 40, 50]]\n";
  const auto v = model_of(half_space + grid + "[sea]\nlevel_m = 10\nresistivity_ohm_m = 0.3\n");
  REQUIRE(v.earth.surface.is_map());
  CHECK(v.earth.surface.z_at(-1000, 1000) == -100.0);
  CHECK(v.earth.surface.z_at(500, 0) == 30.0);
  CHECK(v.earth.surface.z_at(1e6, 2000) == 45.0);
  CHECK(v.earth.sea.value().level_m == 10.0);
  CHECK(v.earth.grid.edges().x_m.front() < -1000.0);
  CHECK(v.earth.grid.edges().x_m.back() > 500.0);
  CHECK(v.earth.grid.edges().y_m.back() > 3000.0);
  const auto datum = model_of("depth_reference = \"datum\"\n" + half_space + grid);
  CHECK(datum.earth.grid.z_edges_m().front() == -100.0);
  CHECK_THAT(refusal(half_space + grid + "[sea]\nlevel_m = 50\nresistivity_ohm_m = 0.3\n"),
             HasId("sea_without_water", {"m.toml:10", "z = 50 m"}));
}

TEST_CASE("TOML volume: keys of a volume in a section name the line and the remedy", "[toml]") {
  const std::string section = "[background]\nresistivity_ohm_m = [1]\n";
  const std::vector<std::string> remedy{"dimension = 3"};
  const auto with = [&](std::vector<std::string> parts) {
    parts.insert(parts.end(), remedy.begin(), remedy.end());
    return HasId("needs_dimension_3", parts);
  };
  CHECK_THAT(refusal(section + "[[box]]\nx_min_m = 1\nresistivity_ohm_m = 1\n"),
             with({"m.toml:4", "x_min_m"}));
  CHECK_THAT(refusal(section + "[[box]]\nresistivity_ohm_m = 1\nx_max_m = 1\n"),
             with({"m.toml:5", "x_max_m"}));
  CHECK_THAT(refusal(section + "[[polygon]]\npoints = [[0, 1], [1, 1], [1, 2]]\nx_max_m = 5\n"),
             with({"m.toml:5", "x_max_m"}));
  CHECK_THAT(refusal(section + prism + "[[0, 0], [1, 0], [1, 1]]\n"), with({"m.toml:3", "prism"}));
  CHECK_THAT(refusal(section + "[surface]\ny_m = [0, 1]\nx_m = [0, 1]\nz_m = [[0, 1], [2, 3]]\n"),
             with({"m.toml:5", "x_m"}));
  CHECK(model_of("dimension = 2\n" + section).earth.grid.dimension() == 2);
  for (const char* wrong : {"1", "4", "4294967299"})
    CHECK_THAT(refusal("dimension = " + std::string(wrong) + "\n" + section),
               HasId("wrong_dimension", {"m.toml:1", wrong}));
}

TEST_CASE("TOML volume: wrong bodies and surfaces are configuration errors with file and line", "[toml]") {
  const std::string box = half_space + "[[box]]\nresistivity_ohm_m = 1\n";  // lines 1 to 5
  CHECK_THAT(refusal(box + "x_min_m = 5\nx_max_m = 1\n"),
             HasId("box_reversed", {"m.toml:4", "x_min_m", "5"}));
  CHECK_THAT(refusal(box + "x_min_m = 5\nx_max_m = 5.0000001\n"), HasId("too_thin", {"m.toml:7", "x_max_m"}));
  CHECK_THAT(refusal(box + "x_min_m = 1e9\n"), HasId("place_out_of_range", {"m.toml:6", "x_min_m", "1e+09"}));
  const std::string square = "[[0, 0], [9, 0], [9, 9], [0, 9]]\n";
  CHECK_THAT(refusal(half_space + prism + "[[0, 0], [9, 9], [9, 0], [0, 9]]\n"),
             HasId("wrong_polygon", {"m.toml:8", "x", "y"}));
  CHECK_THAT(refusal(half_space + prism + "[[0, 0], [9, 0], [1, 2, 3]]\n"),
             HasId("point_not_a_pair", {"m.toml:8", "[x, y]", "3"}));
  CHECK_THAT(refusal(half_space + prism + "[1, 2]\n"), HasId("not_a_list_of_lists", {"m.toml:8", "[x, y]"}));
  CHECK_THAT(refusal(half_space + "[[prism]]\nresistivity_ohm_m = 1\n"),
             HasId("empty_list", {"m.toml:4", "points"}));
  CHECK_THAT(refusal(half_space + prism + "[[0, 0], [9, 0], [9, 1e-9]]\n"), HasId("too_thin", {"m.toml:8"}));
  CHECK_THAT(refusal(half_space + prism + "[[0, 0], [2e8, 0], [9, 9]]\n"),
             HasId("place_out_of_range", {"m.toml:8", "points"}));
  CHECK_THAT(refusal(half_space + replaced(prism, "900", "400") + square),
             HasId("box_reversed", {"m.toml:4", "z_min_m", "z_max_m"}));
  CHECK_THAT(refusal(half_space + "[[prism]]\nresistivity_ohm_m = 1\nz_max_m = -5\npoints = " + square),
             HasId("box_above_surface", {"m.toml:4", "z_max_m"}));
  CHECK_THAT(refusal(half_space + "[[prism]]\npoints = " + square),
             HasId("missing_key", {"resistivity_ohm_m"}));
  CHECK_THAT(refusal(half_space + replaced(prism, "1.0", "1e13") + square),
             HasId("resistivity_out_of_range", {"m.toml:5"}));
  CHECK_THAT(refusal(half_space + prism + square + "x_min_m = 1\n"),
             HasId("unknown_key", {"m.toml:9", "\"prism[0].x_min_m\""}));
  const std::string surface = half_space + "[surface]\nx_m = [0, 1]\ny_m = [0, 1]\nz_m = ";
  CHECK_THAT(refusal(surface + "[0, 1]\n"), HasId("not_a_list_of_lists", {"m.toml:7", "z_m"}));
  CHECK_THAT(refusal(surface + "[[0, 1],\n [2]]\n"), HasId("ragged_surface", {"m.toml:8", "2", "1"}));
  CHECK_THAT(refusal(surface + "[[0, 1]]\n"), HasId("wrong_surface", {"m.toml:4"}));
  CHECK_THAT(refusal(surface + "[[0, 1],\n [2, 2e8]]\n"), HasId("place_out_of_range", {"m.toml:8"}));
  CHECK_THAT(refusal(replaced(surface, "x_m = [0, 1]", "x_m = [1, 0]") + "[[0, 1], [2, 3]]\n"),
             HasId("wrong_surface", {"m.toml:4", "x"}));
  CHECK_THAT(refusal(half_space + prism + "[[0, 0], [1000, 100], [1100, 1000]]\n", 1000.0),
             HasId("too_many_cells", {"m.toml", "4000000", "resolution_m"}));
}

TEST_CASE("TOML volume: the example of docs/model-files.md has the bodies that it describes", "[toml]") {
  const auto v = model_of(example_of("docs/model-files.md", "## TOML in 3-D"));
  CHECK(v.earth.grid.dimension() == 3);
  CHECK(v.earth.surface.is_map());
  CHECK(v.earth.grid.reference() == DepthReference::surface);
  CHECK(at(v, 0, -10e3, 5e3) == 1.0);
  CHECK(at(v, 0, 10e3, 5e3) == 100.0);
  CHECK(at(v, 30e3, 10e3, 5e3) == 10.0);
  CHECK(at(v, 0, -10e3, 20e3) == 100.0);
  CHECK(at(v, 0, 30e3, 14e3) == 3.0);
  CHECK(at(v, 0, 30e3, 17e3) == 100.0);
  CHECK(at(v, 0, 0, 40e3) == 0.1);
  CHECK(v.earth.grid.n_cells() < 10000);
}

TEST_CASE("HDF5 model: sections and volumes keep every bit in either scale", "[model]") {
  const TemporaryFolder folder;
  const std::string body = "[[prism]]\npoints = [[0, 0], [3000, 500], [700, 900]]\nresistivity_ohm_m = 0.7\n";
  const std::string sea = "[sea]\nlevel_m = 0.1\nresistivity_ohm_m = 0.3\n";
  const std::vector<std::pair<std::string, std::string>> models{
      {"lodestone volume", half_space + body},
      {"lodestone volume", half_space + body + sea +
                               "[surface]\nx_m = [-10.1, 7]\ny_m = [0, 3.3]\nz_m = [[0, 1], [-0.2, 0.7]]\n"},
      {"lodestone section",
       "depth_reference = \"datum\"\n[background]\nthickness_m = [0.7]\n"
       "resistivity_ohm_m = [3, 0.1]\n[surface]\npoints = [[0, 1.1], [7, 0.3]]\n" +
           sea}};
  for (const auto& [format, text] : models) {
    Model written = model_of(text);
    for (const bool is_log10 : {false, true}) {
      if (is_log10) {
        written.values = log10_resistivity(written);
        written.property.scale = physics::mesh::Scale::log10;
      }
      model::write_model_hdf5(folder / "m.h5", written);
      CHECK(hdf5::Hdf5Source(folder / "m.h5").attribute("", "format") == format);
      const Model read = model::read_model_hdf5(folder / "m.h5");
      CHECK(read.property.scale == written.property.scale);
      CHECK(read.values == written.values);
      for (const Axis axis : physics::mesh::all_axes)
        CHECK(read.earth.grid.edges_m(axis) == written.earth.grid.edges_m(axis));
      CHECK(read.earth.grid.reference() == written.earth.grid.reference());
      CHECK(read.earth.surface.x_m() == written.earth.surface.x_m());
      CHECK(read.earth.surface.y_m() == written.earth.surface.y_m());
      CHECK(read.earth.surface.z_m() == written.earth.surface.z_m());
      REQUIRE(read.earth.sea.has_value() == written.earth.sea.has_value());
      if (read.earth.sea) {
        CHECK(read.earth.sea->level_m == written.earth.sea->level_m);
        CHECK(read.earth.sea->resistivity_ohm_m == written.earth.sea->resistivity_ohm_m);
      }
      CHECK(model::read_model(folder / "m.h5").values == resistivity_ohm_m(written));
    }
  }
}

TEST_CASE("HDF5 model: other dimensions and properties are refused", "[model]") {
  const TemporaryFolder folder;
  const Model layers = physics::mesh::resistivity_model({physics::mesh::TensorGrid::layers(10.0, 2.0, 3)},
                                                        Eigen::Vector3d::Ones());
  CHECK_THAT(error_of<core::InvalidArgument>([&] { model::write_model_hdf5(folder / "m.h5", layers); }),
             HasId("not_a_section"));
  Model volume = model_of(half_space);
  volume.property.name = "density";
  CHECK_THAT(error_of<core::InvalidArgument>([&] { model::write_model_hdf5(folder / "m.h5", volume); }),
             HasId("not_resistivity", {"density"}));
  volume = model_of(half_space);
  volume.values = Eigen::Vector3d::Ones();
  CHECK_THAT(error_of<core::ShapeError>([&] { model::write_model_hdf5(folder / "m.h5", volume); }),
             HasId("wrong_size", {"1", "3"}));
  hdf5::Hdf5Sink sink(folder / "layers.h5");
  hdf5::write_header(sink, "lodestone section", 1);
  write(sink, layers);
  sink.commit();
  CHECK_THAT(error_of<core::FormatError>([&] { (void)model::read_model_hdf5(folder / "layers.h5"); }),
             HasId("no_model", {"layers.h5"}));
}

TEST_CASE("info: volumes of TOML and HDF5 state cells, extent, surface and resistivities", "[info]") {
  const TemporaryFolder folder;
  const std::string text = half_space +
                           "[[box]]\nx_min_m = -1000\nx_max_m = 2000\nz_max_m = 500\nresistivity_ohm_m = 3\n"
                           "[surface]\nx_m = [0, 1]\ny_m = [0, 1]\nz_m = [[0, 1], [-20, 3]]\n";
  const std::string path = write_text(folder, "m.toml", text);
  model::write_model_hdf5(folder / "m.h5", model::read_model(path));
  for (const auto& [name, format] : {std::pair{"m.toml", "TOML model"}, {"m.h5", "HDF5 model"}}) {
    const auto info = info::describe_file(folder / name);
    CHECK(info.format == format);
    CHECK(info.facts == std::vector<std::string>{"3 x 1 x 2 cells along x, y and z",
                                                 "x -4000 to 5000 m, y -1000 to 1001 m, surface at z = -20 "
                                                 "to 3 m, 1500 m deep",
                                                 "resistivity 3 to 100 ohm m"});
  }
}
