// SPDX-License-Identifier: Apache-2.0
#include "physics/mesh/outline.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/physics/mesh/earths.hpp"

#include <algorithm>
#include <cmath>

using namespace lodestone;
using namespace lodestone::physics::mesh;

namespace {

/// The z of an edge by the rule for sections, written out: draped, or cut with the top at the surface.
double edge_z(const Earth& earth, std::size_t iz, double y_m) {
  const double surface = earth.surface.profile().z_at(y_m), edge = earth.grid.edges().z_m[iz];
  if (earth.grid.reference() == DepthReference::surface) return surface + edge;
  return iz == 0 ? surface : std::max(edge, surface);
}

/// Returns the area of a polygon of the section, in m².
double area_of(const std::vector<Point>& corners) {
  double twice = 0.0;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Point &a = corners[i], &b = corners[(i + 1) % corners.size()];
    twice += a.y_m * b.z_m - a.z_m * b.y_m;
  }
  return 0.5 * std::abs(twice);
}

/// Returns the volume of a column with level sides, from the mean heights of its edges; exact for the shapes
/// of the tests.
double volume_of(const std::vector<Point>& corners) {
  const std::size_t n = corners.size() / 2;
  double twice = 0.0, height = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const Point &a = corners[i], &b = corners[(i + 1) % n];
    twice += a.x_m * b.y_m - a.y_m * b.x_m;
    height += (corners[i].z_m - corners[i + n].z_m) / static_cast<double>(n);
  }
  return 0.5 * std::abs(twice) * height;
}

}  // namespace

TEST_CASE("outline: nodes of a section follow its columns and are draped or cut by the surface", "[mesh]") {
  for (const DepthReference reference : {DepthReference::surface, DepthReference::datum}) {
    const Earth earth = tests::coast_section(reference);
    const Outline drawn = outline(earth);
    const auto &y = earth.grid.edges().y_m, &z = earth.grid.edges().z_m;
    std::size_t node = 0;
    for (const double y_m : y) {
      for (std::size_t iz = 0; iz < z.size(); ++iz)
        CHECK(drawn.corners.at(node++) == Point{0.0, y_m, edge_z(earth, iz, y_m)});
    }
    const std::vector<std::size_t> first{0, 1, z.size() + 1, z.size()};
    CHECK(drawn.cells.front().cell == 0);
    CHECK(drawn.cells.front().corners == first);
  }
}

TEST_CASE("outline: cells of a level grid that lie above the surface are left out", "[mesh]") {
  const auto has = [](const Outline& drawn, Eigen::Index cell) {
    return std::ranges::any_of(drawn.cells, [&](const OutlineCell& each) { return each.cell == cell; });
  };
  const Earth draped = tests::coast_section(DepthReference::surface),
              level = tests::coast_section(DepthReference::datum);
  const Eigen::Index lowered = level.grid.index(1, 4);  // z −60 … 0 under a floor at 75 m and deeper
  CHECK(has(outline(draped), lowered));
  CHECK_FALSE(has(outline(level), lowered));
  CHECK(has(outline(level), level.grid.index(3, 4)));
}

TEST_CASE("outline: water fills the section between its level and its floor, a triangle at the coast",
          "[mesh]") {
  const Earth earth = tests::coast_section(DepthReference::datum);
  const Outline drawn = outline(earth);
  std::vector<std::size_t> n_corners;
  double area = 0.0;
  for (const OutlineCell& cell : drawn.cells) {
    if (cell.cell >= 0) continue;
    n_corners.push_back(cell.corners.size());
    area += area_of(drawn.corners_of(cell));
  }
  CHECK(n_corners == std::vector<std::size_t>{3, 4, 4});
  const double floor_at_150 = 75.0, floor_at_250 = 100.0;  // straight between the edges of a column
  CHECK(area == Approx(0.5 * 150.0 * floor_at_150 + 100.0 * 0.5 * (floor_at_150 + floor_at_250)));
  const Point coast = drawn.corners_of(*std::ranges::find(drawn.cells, -1, &OutlineCell::cell)).front();
  CHECK(coast.y_m == Approx(0.0).margin(1e-12));
}

TEST_CASE("outline: layers are pieces of a line, below the water", "[mesh]") {
  Earth earth = tests::small_layers();
  earth.surface = Surface(100.0);
  earth.sea = Sea{};
  const Outline drawn = outline(earth);
  REQUIRE(drawn.cells.size() == 4);
  CHECK(drawn.corners_of(drawn.cells[1]) == std::vector<Point>{{0, 0, 110}, {0, 0, 130}});
  CHECK(drawn.corners_of(drawn.cells[3]) == std::vector<Point>{{0, 0, 0}, {0, 0, 100}});
}

TEST_CASE("outline: blocks of a draped volume keep their volume, and their corners lie at their places",
          "[mesh]") {
  const Earth earth = tests::small_volume(DepthReference::surface);
  const Outline drawn = outline(earth);
  REQUIRE(drawn.cells.size() == 12);
  const std::vector<Point> block = drawn.corners_of(drawn.cells[1]);  // x 10 … 20, y 0 … 10, the upper layer
  REQUIRE(block.size() == 8);
  const auto at = [&](double x, double y, double depth) {
    return Point{x, y, earth.surface.z_at(x, y) + depth};
  };
  CHECK(block == std::vector<Point>{at(10, 0, 5), at(10, 10, 5), at(20, 10, 5), at(20, 0, 5), at(10, 0, 0),
                                    at(10, 10, 0), at(20, 10, 0), at(20, 0, 0)});
  for (const OutlineCell& cell : drawn.cells) CHECK(volume_of(drawn.corners_of(cell)) == Approx(500.0));
}

TEST_CASE("outline: the volume of water is that between its level and a plane floor, wedges at the coast",
          "[mesh]") {
  Eigen::MatrixXd z(2, 2);
  z << -10.0, 30.0, -10.0, 30.0;  // a coast along x at y = 10 m
  const Earth earth{TensorGrid(Edges{{0, 10, 20}, {0, 15, 40}, {0, 50}}, DepthReference::datum),
                    Surface({0, 20}, {0, 40}, z), Sea{0.0, 0.3}};
  const Outline drawn = outline(earth);
  double volume = 0.0;
  std::size_t n_wedges = 0;
  for (const OutlineCell& cell : drawn.cells) {
    if (cell.cell >= 0) continue;
    n_wedges += cell.corners.size() == 6 ? 1 : 0;
    volume += volume_of(drawn.corners_of(cell));
  }
  CHECK(n_wedges == 4);
  CHECK(volume == Approx(20.0 * 0.5 * 30.0 * 30.0));
}
