// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/method/earth.hpp"
#include "engine/core/error.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <utility>

using namespace lodestone;
using namespace lodestone::mt_invert;
namespace mt = physics::mt;
using physics::mesh::Flat;
using physics::mesh::TensorGrid;

namespace {

/// 3 columns × 2 rows, 100 ohm m, reference 10 ohm m.
method::Earth small_earth() {
  method::Earth earth{{TensorGrid::section({0, 100, 200, 300}, {0, 100, 300})},
                      Eigen::VectorXd::Constant(6, 2.0),
                      Eigen::VectorXd::Constant(6, 1.0)};
  method::fix_regions({}, earth);
  return earth;
}

physics::mesh::Polygon polygon_of(const std::vector<Flat>& corners) {
  return physics::mesh::Polygon(physics::mesh::points(corners));
}

config::TearConfig tear_along(const std::vector<Flat>& places) {
  return {physics::mesh::Tear{physics::mesh::points(places)}, "c.toml:9: regularization.tear[0].y_m"};
}

config::FixedRegionConfig upper_left(std::optional<double> resistivity = {}) {
  return {polygon_of({{0, 0}, {100, 0}, {100, 100}, {0, 100}}), resistivity,
          "c.toml:7: regularization.fixed[0]"};
}

}  // namespace

TEST_CASE(
    "fixed regions: cells with their centre inside take the reference or the given resistivity and are no "
    "unknowns",
    "[apps]") {
  method::Earth earth = small_earth();
  CHECK(earth.free_cells.size() == 6);
  method::fix_regions({upper_left()}, earth);
  CHECK(earth.free_cells == std::vector<Eigen::Index>{1, 2, 3, 4, 5});
  CHECK(earth.start_log10[0] == 1.0);
  method::fix_regions({upper_left(1000.0)}, earth);
  CHECK(earth.start_log10[0] == Approx(3.0));
  CHECK(earth.reference_log10[0] == Approx(3.0));
  CHECK(earth.start_log10[1] == 2.0);
}

TEST_CASE(
    "fixed regions and tears: those that miss the grid, and regions that leave nothing, are refused with "
    "their place",
    "[apps]") {
  method::Earth earth = small_earth();
  const auto refusal = [&](const std::vector<Flat>& corners) {
    return tests::message_of<core::ConfigError>([&] {
      method::fix_regions({{polygon_of(corners), {}, "c.toml:7"}}, earth);
    });
  };
  CHECK_THAT(refusal({{900, 0}, {950, 0}, {900, 50}}),
             Catch::Contains("c.toml:7") && Catch::Contains("at least one cell"));
  CHECK_THAT(refusal({{-1, -1}, {301, -1}, {301, 301}, {-1, 301}}), Catch::Contains("hold every cell"));
  const config::TearConfig outside = tear_along({{900, 0}, {900, 400}});
  const auto message = tests::message_of<core::ConfigError>([&] { method::check_tears({outside}, earth); });
  CHECK_THAT(message, Catch::Contains("c.toml:9") && Catch::Contains("y 0 … 300 m"));
}

TEST_CASE(
    "tears: a part outside the grid is named in a warning, above the top of a grid on the datum the ground "
    "counts as inside",
    "[apps]") {
  const method::Earth earth = small_earth();
  const auto warned = [](const config::TearConfig& tear, const physics::mesh::Earth& of) {
    tests::Capture err(STDERR_FILENO);
    method::check_tears({tear}, of);
    return err.text();
  };
  const config::TearConfig tear = tear_along({{100, -60}, {100, 300}, {400, 300}});
  CHECK_THAT(warned(tear, earth),
             Catch::Contains("c.toml:9: regularization.tear[0].y_m") &&
                 Catch::Contains("60 m from y = 100 m, z = -60 m to y = 100 m, z = 0 m; 100 m from") &&
                 Catch::Contains("the grid spans y 0 … 300 m"));
  const config::TearConfig shorter = tear_along({{100, -60}, {100, 300}});
  const TensorGrid on_datum =
      TensorGrid::section({0, 100, 200, 300}, {0, 100, 300}, physics::mesh::DepthReference::datum);
  CHECK(warned(shorter, {on_datum, physics::mesh::SurfaceLine({0, 100}, {0, -80})}).empty());
  CHECK_FALSE(warned(shorter, {on_datum}).empty());
}
