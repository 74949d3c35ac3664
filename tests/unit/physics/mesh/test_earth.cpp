// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "physics/mesh/earth.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/memory_arrays.hpp"
#include "tests/unit/physics/mesh/earths.hpp"

#include <cstdint>
#include <span>
#include <vector>

using namespace lodestone;
using namespace lodestone::physics::mesh;

namespace {

Model numbered(const Earth& earth, const Property& property = {}) {
  const Eigen::Index n = earth.grid.n_cells();
  return {earth, property, Eigen::VectorXd::LinSpaced(n, 1.0 / 3.0, static_cast<double>(n) / 7.0)};
}

void check_same(const Model& a, const Model& b) {
  for (const Axis axis : all_axes) CHECK(a.earth.grid.edges_m(axis) == b.earth.grid.edges_m(axis));
  CHECK(a.earth.grid.reference() == b.earth.grid.reference());
  CHECK(a.earth.surface.x_m() == b.earth.surface.x_m());
  CHECK(a.earth.surface.y_m() == b.earth.surface.y_m());
  CHECK(a.earth.surface.z_m() == b.earth.surface.z_m());
  REQUIRE(a.earth.sea.has_value() == b.earth.sea.has_value());
  if (a.earth.sea) {
    CHECK(a.earth.sea->level_m == b.earth.sea->level_m);
    CHECK(a.earth.sea->resistivity_ohm_m == b.earth.sea->resistivity_ohm_m);
  }
  CHECK(a.property.name == b.property.name);
  CHECK(a.property.units == b.property.units);
  CHECK(a.property.scale == b.property.scale);
  CHECK(a.values == b.values);
}

tests::MemoryArrays written(const Model& model) {
  tests::MemoryArrays arrays;
  write(arrays, model);
  return arrays;
}

}  // namespace

TEST_CASE("surface: a map is bilinear between its points and level beyond them", "[mesh]") {
  const Surface map = tests::small_volume(DepthReference::surface).surface;
  CHECK(map.z_at(0, 0) == -2.0);
  CHECK(map.z_at(20, 30) == 3.0);
  CHECK(map.z_at(10, 15) == Approx(0.5));
  CHECK(map.z_at(99, 99) == 3.0);
  CHECK(map.z_at(-99, 15) == Approx(-0.5));
  CHECK((map.highest_m() == -2.0 && map.lowest_m() == 3.0 && !map.is_flat()));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] { static_cast<void>(map.profile()); }),
             tests::HasId("is_a_map", {"2 × 2"}));
  CHECK_THAT(tests::error_of<core::ShapeError>([&] {
               static_cast<void>(Surface({0, 1}, {0, 1}, Eigen::MatrixXd::Zero(3, 2)));
             }),
             tests::HasId("wrong_size", {"3 × 2"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(Surface({0, 1}, {1, 0}, Eigen::MatrixXd::Zero(2, 2)));
             }),
             tests::HasId("not_increasing", {"y", "point 1"}));
}

TEST_CASE("surface: a profile is the same at every x", "[mesh]") {
  const SurfaceLine line({0, 100}, {0, 50});
  const Surface surface = line;
  CHECK(surface.z_at(1e6, 40.0) == line.z_at(40.0));
  CHECK(surface.profile().y_m() == line.y_m());
  CHECK((Surface(3.0).is_flat() && !surface.is_flat()));
}

TEST_CASE("earth: true depths are draped on the surface, or cut by it with the top at the surface",
          "[mesh]") {
  const Earth draped = tests::coast_section(DepthReference::surface),
              level = tests::coast_section(DepthReference::datum);
  CHECK(true_z_m(draped, {0, 200, 60}) == 160.0);
  CHECK(true_z_m(level, {0, 200, 60}) == 100.0);
  CHECK(true_z_m(level, {0, 200, 120}) == 120.0);
  CHECK(true_z_m(level, {0, 0, -120}) == 0.0);
  CHECK(true_z_m(level.grid, -120.0, -300.0) == -300.0);  // the top reaches up to the surface
}

TEST_CASE("model: a resistivity is available in either scale, whichever the model holds", "[mesh]") {
  const Earth earth{TensorGrid::section({0, 1, 2}, {0, 3}), Surface(5.0), Sea{1.0, 0.2}};
  const Eigen::Vector2d resistivity(10.0, 1000.0), exponents(1.0, 3.0);
  const Model linear = resistivity_model(earth, resistivity), logarithmic{earth, {}, exponents};
  CHECK(resistivity_ohm_m(linear) == resistivity);
  CHECK(log10_resistivity(linear).isApprox(exponents));
  CHECK(resistivity_ohm_m(logarithmic).isApprox(resistivity));
  CHECK(log10_resistivity(logarithmic) == exponents);
  CHECK(linear.earth.sea->level_m == 1.0);
  Model other = linear;
  other.property = {"density", "kg/m3", Scale::linear};
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] { static_cast<void>(resistivity_ohm_m(other)); }),
             tests::HasId("not_resistivity", {"density", "kg/m3"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] { static_cast<void>(log10_resistivity(other)); }),
             tests::HasId("not_resistivity", {"density", "kg/m3"}));
}

TEST_CASE("earth: a section has a grid along y and z and a surface that is the same at every x", "[mesh]") {
  CHECK_NOTHROW(require_section(tests::coast_section(DepthReference::datum), "here"));
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(require_section(tests::small_layers(), "here")); }),
             tests::HasId("not_a_section", {"here", "1"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(require_section(tests::small_volume(DepthReference::surface), "here"));
             }),
             tests::HasId("not_a_section", {"3"}));
  Earth under_map = tests::coast_section(DepthReference::datum);
  under_map.surface = Surface({0, 1}, {0, 1}, Eigen::Matrix2d::Zero());
  CHECK_THAT(
      tests::error_of<core::InvalidArgument>([&] { static_cast<void>(require_section(under_map, "here")); }),
      tests::HasId("is_a_map", {"2 × 2"}));
}

TEST_CASE("model: what is written is read back to the bit in one, two and three dimensions", "[mesh]") {
  for (const Earth& earth : {tests::small_layers(), tests::coast_section(DepthReference::datum),
                             tests::small_volume(DepthReference::surface)}) {
    const Model model = numbered(earth);
    const auto arrays = written(model);
    const std::vector<std::int64_t> shape{earth.grid.n_z(), earth.grid.n_y(), earth.grid.n_x()};
    CHECK(arrays.info("model/log10_resistivity").shape == shape);
    CHECK(arrays.attribute("model/log10_resistivity", "units") == "log10(ohm m)");
    check_same(read_model(arrays), model);
  }
  const Model density = numbered(tests::small_layers(), {"density", "kg/m3", Scale::linear});
  check_same(read_model(written(density), "density"), density);
}

TEST_CASE("model: values of version 1 in shape (n_z, n_y) are read", "[mesh]") {
  const Model model = numbered(tests::coast_section(DepthReference::surface));
  auto arrays = written(model);
  const auto bytes =
      std::as_bytes(std::span(model.values.data(), static_cast<std::size_t>(model.values.size())));
  arrays.write("model/log10_resistivity", {core::DType::f64, {4, 5}}, bytes);
  check_same(read_model(arrays), model);
  arrays.write("model/log10_resistivity", {core::DType::f64, {5, 4}}, bytes);
  CHECK_THAT(tests::error_of<core::FormatError>([&] { static_cast<void>(read_model(arrays)); }),
             tests::HasId("wrong_shape", {"(4, 5)", "(5, 4)"}));
}

TEST_CASE("model: missing properties, wrong sizes and broken grids are refused", "[mesh]") {
  const Model model = numbered(tests::small_layers());
  auto arrays = written(model);
  CHECK_THAT(tests::error_of<core::FormatError>([&] { static_cast<void>(read_model(arrays, "density")); }),
             tests::HasId("no_property", {"model/log10_density"}));
  arrays.attribute("model/z_edges_m", "measured_from", "moon");
  CHECK_THAT(tests::error_of<core::FormatError>([&] { static_cast<void>(read_earth(arrays)); }),
             tests::HasId("unknown_word", {"moon"}));
  arrays = written(model);
  core::write_vector(arrays, "model/z_edges_m", std::vector<double>{0.0, 2.0, 1.0});
  CHECK_THROWS_AS(read_earth(arrays), core::FormatError);
  Model wrong = model;
  wrong.values.conservativeResize(2);
  CHECK_THAT(tests::error_of<core::ShapeError>([&] { static_cast<void>(written(wrong)); }),
             tests::HasId("wrong_size", {"3", "2"}));
  wrong = model;
  wrong.property.name = "a/b";
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] { static_cast<void>(written(wrong)); }),
             tests::HasId("wrong_property_name", {"a/b"}));
}
