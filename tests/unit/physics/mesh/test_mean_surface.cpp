// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "physics/mesh/mean_surface.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::physics::mesh;

namespace {

const TensorGrid cells({.x_m = {-400, -200, 0, 200, 400, 700},
                        .y_m = {-400, -200, 0, 200, 400, 700},
                        .z_m = {0, 100}});

/// Adds the points of a grid with this depth between two places along both axes.
template <class Depth>
MeanSurface sampled(double from_m, double to_m, double step_m, Depth depth) {
  MeanSurface sums(cells);
  for (double x = from_m; x <= to_m; x += step_m)
    for (double y = from_m; y <= to_m; y += step_m) sums.add({x, y, depth(x, y)});
  return sums;
}

double slope(double x_m, double y_m) { return 0.2 * x_m - 0.1 * y_m + 7.0; }

}  // namespace

TEST_CASE("mean surface: a slope stays, whether its points are many, few, or end at the last lines",
          "[mesh]") {
  for (const double step_m : {13.0, 90.0, 170.0}) {
    const MeanMap map = sampled(-700.0, 900.0, step_m, slope).map();
    for (const double x : map.surface.x_m())
      for (const double y : map.surface.y_m()) CHECK(map.surface.z_at(x, y) == Approx(slope(x, y)));
  }
  const MeanMap half = sampled(-405.0, 705.0, 7.0, slope).map();
  CHECK(half.surface.z_at(-400.0, 700.0) == Approx(slope(-400.0, 700.0)));
}

TEST_CASE("mean surface: roughness within cells is averaged, bumps of their width are means over a cell",
          "[mesh]") {
  const auto rough = [](double x, double y) {
    return slope(x, y) + 50.0 * std::cos(0.31415926535 * x) * std::cos(0.31415926535 * y);  // 20 m waves
  };
  const MeanMap map = sampled(-550.0, 850.0, 5.0, rough).map();
  CHECK(map.surface.x_m() == cells.edges().x_m);
  CHECK(map.surface.z_at(0.0, 200.0) == Approx(slope(0.0, 200.0)).margin(0.5));
  // z = x²/1000 between ±100 m is 1000/300 m in the mean and zero at the line
  const MeanMap bowl = sampled(-550.0, 850.0, 5.0, [](double x, double) { return x * x / 1000.0; }).map();
  CHECK(bowl.surface.z_at(0.0, 0.0) == Approx(10.0 / 3.0).epsilon(0.05));
}

TEST_CASE("mean surface: lines stand no closer than points, and the outermost ones stay", "[mesh]") {
  const MeanMap map = sampled(-700.0, 900.0, 260.0, slope).map();
  CHECK(map.surface.x_m() == std::vector{-400.0, 0.0, 700.0});
  CHECK(map.n_points.minCoeff() > 0);
  CHECK(map.surface.z_at(0.0, 0.0) == Approx(slope(0.0, 0.0)));
}

TEST_CASE("mean surface: beyond its points it continues level, and covers nothing there", "[mesh]") {
  const MeanMap map = sampled(-490.0, 90.0, 10.0, slope).map();
  CHECK(map.covers(-400.0, -400.0));
  CHECK(map.covers(50.0, 50.0));
  CHECK_FALSE(map.covers(50.0, 350.0));
  CHECK_FALSE(map.covers(-650.0, 0.0));
  CHECK(map.surface.z_at(0.0, 700.0) == map.surface.z_at(0.0, 400.0));
  CHECK(map.surface.highest_m() >= slope(-490.0, 90.0));
  CHECK(map.surface.lowest_m() <= slope(90.0, -490.0));
  CHECK_FALSE(MeanMap{}.covers(0.0, 0.0));
}

TEST_CASE("mean surface: cells without plan and maps without points are refused", "[mesh]") {
  CHECK_THAT(tests::error_of<core::InvalidArgument>([] {
               (void)MeanSurface(TensorGrid::section({0.0, 1.0}, {0.0, 1.0}));
             }),
             tests::HasId("no_plan", {"2 axes"}));
  MeanSurface outside(cells);
  outside.add({-501.0, 0.0, 0.0});
  outside.add({0.0, 851.0, 0.0});
  CHECK(outside.n_points() == 0);
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] { (void)outside.map(); }),
             tests::HasId("no_point", {}));
}
