// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/ground.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/warnings.hpp"

using namespace lodestone;
namespace mt = physics::mt;

TEST_CASE("ground: stations beyond the points of a map are named, those on its edge are not", "[physics]") {
  mt::Observations observed;
  observed.profile.is_map = true;
  for (const double x_m : {0.0, 1000.0, 1001.0}) {
    observed.survey.stations.push_back({fmt::format("s{}", observed.survey.stations.size()), 500.0});
    observed.survey.stations.back().x_m = x_m;
  }
  const auto warned = [&](double last_x_m) {
    const physics::mesh::Surface map({0.0, last_x_m}, {0.0, 500.0}, Eigen::MatrixXd::Constant(2, 2, -20.0));
    return tests::text_with(
        tests::warnings_of(
            [&] { (void)mt::ground_under(observed, {.elevation = mt::Elevation::file, .surface = map}); }),
        "mt::sites#outside");
  };
  CHECK_THAT(warned(1000.0), Catch::Contains("1 of 3 stations") &&
                                 Catch::Contains("s2 (x 1001 m, y 500 m)") &&
                                 Catch::Contains("x 0 to 1000 m"));
  CHECK(warned(1001.0).empty());
}
