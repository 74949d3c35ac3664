// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt/start_models.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

using namespace lodestone;
using inversion::mt::difference_of_surfaces;
using inversion::mt::sampled_log10;
using physics::mesh::TensorGrid;

namespace {

/// 0.5 ohm m within 500 m of the origin and 250 to 2250 m deep, 100 ohm m around.
physics::mesh::Model block_in_half_space() {
  const TensorGrid grid = TensorGrid::section({-5000, -500, 500, 5000}, {0, 250, 2250, 8000});
  Eigen::VectorXd resistivity = Eigen::VectorXd::Constant(grid.n_cells(), 100.0);
  resistivity[grid.index(1, 1)] = 0.5;
  return physics::mesh::resistivity_model({grid}, std::move(resistivity));
}

}  // namespace

TEST_CASE("sampling: a model on its own grid comes back, on another one it is read at the centres",
          "[inversion]") {
  const auto block = block_in_half_space();
  CHECK((Eigen::pow(10.0, sampled_log10(block, block.earth.grid).array()).matrix() - block.values).norm() <
        1e-9);
  const physics::mesh::TensorGrid other =
      physics::mesh::TensorGrid::section({-100, 100, 800}, {0, 100, 600, 4000});
  const Eigen::VectorXd values = sampled_log10(block, other);
  CHECK(values[other.index(1, 0)] == Approx(std::log10(0.5)));
  CHECK(values[other.index(0, 0)] == Approx(2.0));
  CHECK(values[other.index(1, 1)] == Approx(std::log10(0.5)));  // centre at 450 m, in the block
}

TEST_CASE("models of another surface or sea: what differs, where, and what becomes of the cells",
          "[inversion]") {
  using physics::mesh::DepthReference;
  using physics::mesh::SurfaceLine;
  const physics::mesh::TensorGrid draped = physics::mesh::TensorGrid::section({-1000, 0, 1000}, {0, 500});
  const physics::mesh::TensorGrid on_datum =
      physics::mesh::TensorGrid::section({-1000, 1000}, {0, 500}, DepthReference::datum);
  const SurfaceLine hill({-500.0, 100.0, 500.0}, {0.0, -200.0, 0.0}),
      longer({-500.0, 100.0, 500.0, 900e3}, {0.0, -200.0, 0.5, 800.0});
  const std::optional<physics::mesh::Sea> none, sea{{0.0, 0.3}}, brackish{{0.0, 0.31}};
  const auto difference = [](const physics::mesh::Earth& model, const physics::mesh::Earth& ground) {
    const Eigen::VectorXd cells = Eigen::VectorXd::Ones(model.grid.n_cells());
    return difference_of_surfaces(physics::mesh::resistivity_model(model, cells), ground);
  };
  CHECK(difference({draped, hill}, {draped, hill, none}).empty());
  CHECK(difference({draped, longer}, {draped, hill, none}).empty());  // beyond the grid it may do as it likes
  CHECK_THAT(difference({draped, SurfaceLine()}, {draped, hill, none}),
             Catch::Contains(
                 "up to 200 m apart, at y = 100 m (z = 0 m there, -200 m here); its cells move up and down"));
  CHECK_THAT(difference({on_datum, hill}, {draped, SurfaceLine(-100.0), none}),
             Catch::Contains("stay at their z"));
  CHECK_THAT(difference({draped, hill, sea}, {draped, hill, none}),
             Catch::StartsWith("it has a sea of 0.3 ohm m up to z = 0 m, this run no sea"));
  CHECK_THAT(difference({draped, hill, sea}, {draped, hill, brackish}), Catch::Contains("0.31 ohm m"));
  CHECK(difference({draped, hill, sea}, {draped, hill, sea}).empty());
}
