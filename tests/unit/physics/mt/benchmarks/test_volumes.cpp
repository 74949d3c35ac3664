// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "physics/mt/benchmarks/comparisons.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

using namespace lodestone;
namespace benchmarks = physics::mt::benchmarks;
using physics::mt::Accuracy;
using tests::HasId;

TEST_CASE("benchmarks: volumes are judged by 1.5 % and 0.7 degrees, fine ones by 1 % and 0.3 degrees",
          "[physics][mt]") {
  for (const char* name : {"commemi3d1", "commemi3d2", "dtm1", "two_mountain_3d"}) {
    const auto usual = benchmarks::published_volume(name),
               fine = benchmarks::published_volume(name, Accuracy::fine);
    CHECK(usual.rho_limit_percent == 1.5);
    CHECK(usual.phase_limit_deg == 0.7);
    CHECK(fine.rho_limit_percent == 1.0);
    CHECK(fine.phase_limit_deg == 0.3);
    CHECK(usual.tipper_limit == 0.01);
  }
  const auto block = benchmarks::published_volume("commemi3d1").volume;
  CHECK((block.values.array() == 0.5).count() == 1);
  const auto dublin = benchmarks::published_volume("dtm1").volume;
  CHECK((dublin.values.array() == 1e4).count() == 4);
  CHECK_THAT(tests::error_of<core::InvalidArgument>([] { (void)benchmarks::published_volume("commemi3"); }),
             HasId("unknown_volume", {"commemi3"}));
}

TEST_CASE("benchmarks: a spread of codes widens a limit, and uncertain references are not judged",
          "[physics][mt]") {
  const physics::mesh::TensorGrid grid(
      physics::mesh::Edges{.x_m = {-1000, 0, 1000}, .y_m = {-1000, 0, 1000}, .z_m = {0, 500, 1000}});
  const benchmarks::PublishedVolume half_space{
      physics::mesh::resistivity_model({grid}, Eigen::VectorXd::Constant(grid.n_cells(), 100.0))};
  core::Table table;
  table.add_numbers("period_s", "s", {1, 1, 1, 1});
  table.add_numbers("x_m", "m", {0, 100, 200, 300});
  table.add_numbers("y_m", "m", {0, 100, 200, 300});
  table.add_numbers("rho_xy_ohm_m", "", {100, 103, 103, 103});
  table.add_numbers("phase_xy_deg", "", {45, 45, 45, 46});
  table.add_numbers("rho_yx_ohm_m", "", {100, 100, 100, 100});
  table.add_numbers("phase_yx_deg", "", {-135, -135, -135, 225});
  table.add_numbers("rho_xy_relspread", "", {0, 0, 0.05, 0});
  table.add_numbers("relchange_Zxy_between_meshes", "", {0, 0, 0, 0.01});
  const auto rows = benchmarks::compare_volume(MPI_COMM_SELF, half_space, table,
                                               physics::mt::d3::design_options(Accuracy::standard));
  REQUIRE(rows.size() == 16);
  CHECK(rows[0].passed());
  CHECK_FALSE(rows[4].passed());
  CHECK(rows[8].passed());
  CHECK(rows[8].limit == 5.0);
  CHECK(rows[4].judged);
  CHECK_FALSE(rows[12].judged);
  CHECK_FALSE(rows[13].passed());
  CHECK(rows[14].judged);
  CHECK(rows[15].passed());  // a whole turn is no difference

  table.add_numbers("rho_xy_other_ohm_m", "", {100, 101, 101, 107.12});
  table.add_numbers("phase_xy_other_deg", "", {45, 45, 43, 46});
  const auto wide = benchmarks::compare_volume(MPI_COMM_SELF, half_space, table,
                                               physics::mt::d3::design_options(Accuracy::standard));
  CHECK(wide[4].limit == Approx(4.0));  // the fourth row's difference, for they share a period
  CHECK(wide[8].limit == Approx(5.0));
  CHECK(wide[5].limit == 2.0);
  CHECK(wide[6].limit == Approx(4.0));
}
