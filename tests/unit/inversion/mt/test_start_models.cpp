// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt/start_models.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

using namespace lodestone;
using inversion::mt::difference_of_surfaces;
using physics::mesh::TensorGrid;

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

TEST_CASE("models of another surface: in a volume the place has an x, under layers the one height counts",
          "[inversion]") {
  namespace mesh = physics::mesh;
  const TensorGrid volume(mesh::Edges{{0, 1000, 2000}, {0, 1000}, {0, 500}});
  Eigen::MatrixXd z = Eigen::MatrixXd::Zero(3, 2);
  z(1, 0) = -200.0;
  const mesh::Earth hill{volume, mesh::Surface({-500, 500, 2500}, {0, 1000}, z)}, flat{volume};
  const auto model_on = [](const mesh::Earth& earth) {
    return mesh::resistivity_model(earth, Eigen::VectorXd::Ones(earth.grid.n_cells()));
  };
  CHECK(difference_of_surfaces(model_on(hill), hill).empty());
  CHECK_THAT(difference_of_surfaces(model_on(flat), hill),
             Catch::Contains("up to 200 m apart, at x = 500 m, y = 0 m (z = 0 m there, -200 m here)"));
  const mesh::Earth layers{TensorGrid::layers(10.0, 2.0, 3)};
  CHECK(difference_of_surfaces(model_on(layers), layers).empty());
}
