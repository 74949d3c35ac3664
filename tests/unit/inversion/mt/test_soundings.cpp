// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "inversion/mt/soundings.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

using namespace lodestone;
using physics::mesh::TensorGrid;

TEST_CASE(
    "soundings: sections are linear between stations, constant beyond, and count depth from the surface on "
    "any grid",
    "[inversion]") {
  std::vector<inversion::mt::SoundingModel> models{
      {.station = 1, .log10_resistivity = Eigen::Vector2d(1.0, 2.0)},
      {.station = 0, .log10_resistivity = Eigen::Vector2d(3.0, 2.0)}};
  const TensorGrid grid = TensorGrid::section({0, 100, 200, 300}, {0, 100, 300});
  const std::vector<physics::mt::Station> stations{{"a", 50.0}, {"b", 250.0}};
  const Eigen::VectorXd section =
      inversion::mt::stitched(models, stations, grid, physics::mesh::SurfaceLine());
  CHECK(section[0] == Approx(3.0));
  CHECK(section[1] == Approx(2.0));
  CHECK(section[2] == Approx(1.0));
  CHECK(section[4] == Approx(2.0));
  const TensorGrid datum =
      TensorGrid::section({0, 100, 200, 300}, {0, 100, 300}, physics::mesh::DepthReference::datum);
  CHECK(inversion::mt::stitched(models, stations, datum, physics::mesh::SurfaceLine(-150.0))[0] ==
        Approx(2.0));
  const TensorGrid volume(physics::mesh::Edges{{0, 10, 20}, {0, 100, 200, 300}, {0, 100, 300}});
  CHECK_THAT(
      tests::error_of<core::InvalidArgument>([&] {
        static_cast<void>(inversion::mt::stitched(models, stations, volume, physics::mesh::SurfaceLine()));
      }),
      tests::HasId("not_a_section", {"3 axes"}));
}
