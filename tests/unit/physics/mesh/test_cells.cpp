// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "physics/mesh/cells.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/physics/mesh/earths.hpp"

using namespace lodestone;
using namespace lodestone::physics::mesh;

TEST_CASE("grid: cells count x fastest, then y, then z, and a missing axis counts one", "[mesh]") {
  const TensorGrid volume = tests::small_volume(DepthReference::surface).grid;
  CHECK(volume.dimension() == 3);
  CHECK(volume.n_cells() == 12);
  CHECK(volume.index(1, 2, 1) == (1 * 3 + 2) * 2 + 1);
  const TensorGrid layers = TensorGrid::layers(10.0, 2.0, 3);
  CHECK(layers.dimension() == 1);
  CHECK(layers.n_x() * layers.n_y() == 1);
  CHECK(layers.thickness_m() == Eigen::Vector3d(10.0, 20.0, 40.0));
  const TensorGrid section = TensorGrid::section({0, 1, 3}, {0, 2, 5}, DepthReference::datum);
  CHECK(section.dimension() == 2);
  CHECK(section.index(1, 1) == 3);
  CHECK(section.reference() == DepthReference::datum);
}

TEST_CASE("grid: edges that are missing, alone or not increasing are refused", "[mesh]") {
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] { static_cast<void>(TensorGrid(Edges{})); }),
             tests::HasId("too_few_edges", {"z", "0"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(TensorGrid(Edges{{0, 1}, {}, {0, 1}}));
             }),
             tests::HasId("no_y_edges"));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(TensorGrid(Edges{{}, {0, 2, 1}, {0, 1}}));
             }),
             tests::HasId("not_increasing", {"y", "1 m", "edge 2"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(TensorGrid::section({}, {0, 1}));
             }),
             tests::HasId("too_few_edges", {"y", "0"}));
}

TEST_CASE("grid: a point is found in its cell, −1 outside, and in the outermost cell that continues",
          "[mesh]") {
  const TensorGrid grid = tests::small_volume(DepthReference::surface).grid;
  CHECK(grid.at({15, 25, 7}) == grid.index(1, 2, 1));
  CHECK(grid.at({20, 30, 10}) == grid.index(1, 2, 1));
  CHECK(grid.at({15, 31, 7}) == -1);
  CHECK(grid.nearest({15, 31, 99}) == grid.index(1, 2, 1));
  CHECK(TensorGrid::layers(10.0, 2.0, 3).at({1e6, -1e6, 25.0}) == 1);
}

TEST_CASE("cells: faces of a volume come by axis, then by cell, with areas, distances and depths", "[mesh]") {
  const Cells cells = physics::mesh::cells(tests::small_volume(DepthReference::surface));
  REQUIRE(cells.faces.size() == 6 + 8 + 6);
  CHECK(cells.shape == std::array<int, 3>{2, 3, 2});
  CHECK(cells.volume.sum() == Approx(20.0 * 30.0 * 10.0));
  const Face &x = cells.faces[0], &y = cells.faces[6], &z = cells.faces[14];
  CHECK((x.a == 0 && x.b == 1 && x.normal == Axis::x));
  CHECK((x.area == 50.0 && x.distance == 10.0 && x.depth_m == 2.5));
  CHECK((y.a == 0 && y.b == 2 && y.normal == Axis::y && y.area == 50.0));
  CHECK((z.a == 0 && z.b == 6 && z.normal == Axis::z));
  CHECK((z.area == 100.0 && z.distance == 5.0 && z.depth_m == 5.0));
  CHECK(cells.column[7] == cells.column[1]);
  CHECK(cells.column[7] != cells.column[8]);
  CHECK(cells.longest_side_m() == 30.0);
}

TEST_CASE("cells: layers have faces of area 1 and thicknesses as volumes", "[mesh]") {
  const Cells cells = physics::mesh::cells(tests::small_layers());
  REQUIRE(cells.faces.size() == 2);
  CHECK((cells.faces[1].area == 1.0 && cells.faces[1].distance == 30.0 && cells.faces[1].depth_m == 30.0));
  CHECK(cells.volume == Eigen::Vector3d(10.0, 20.0, 40.0));
  CHECK(cells.extent.z_m == Interval{0.0, 70.0});
  CHECK(cells.extent.y_m == Interval{});
  CHECK(cells.longest_side_m() == 70.0);
}

TEST_CASE("cells: those with their centre in a box or a prism are listed", "[mesh]") {
  const Cells cells = physics::mesh::cells(tests::small_volume(DepthReference::surface));
  CHECK(cells.inside(Box{.y_m = {0, 10}}) == std::vector<Eigen::Index>{0, 1, 6, 7});
  const Polygon corner({{0, 0, 0}, {12, 0, 0}, {12, 12, 0}, {0, 12, 0}}, Plane::plan);
  CHECK(cells.inside(corner) == std::vector<Eigen::Index>{0, 6});
  CHECK(cells.inside(Box{.z_m = {20, 30}}).empty());
}
