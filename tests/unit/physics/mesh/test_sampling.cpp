// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "physics/mesh/sampling.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/physics/mesh/earths.hpp"

#include <cmath>
#include <utility>

using namespace lodestone;
using namespace lodestone::physics::mesh;

namespace {

/// Returns 0.5 ohm m within 500 m of the origin and 250 to 2250 m deep, 100 ohm m around.
Model block_in_half_space() {
  const TensorGrid grid = TensorGrid::section({-5000, -500, 500, 5000}, {0, 250, 2250, 8000});
  Eigen::VectorXd resistivity = Eigen::VectorXd::Constant(grid.n_cells(), 100.0);
  resistivity[grid.index(1, 1)] = 0.5;
  return resistivity_model({grid}, std::move(resistivity));
}

}  // namespace

TEST_CASE("sampling: a model on its own grid comes back, on another one it is read at the centres",
          "[mesh]") {
  const auto block = block_in_half_space();
  CHECK((Eigen::pow(10.0, sampled_log10(block, block.earth.grid).array()).matrix() - block.values).norm() <
        1e-9);
  const TensorGrid other = TensorGrid::section({-100, 100, 800}, {0, 100, 600, 4000});
  const Eigen::VectorXd values = sampled_log10(block, other);
  CHECK(values[other.index(1, 0)] == Approx(std::log10(0.5)));
  CHECK(values[other.index(0, 0)] == Approx(2.0));
  CHECK(values[other.index(1, 1)] == Approx(std::log10(0.5)));  // centre at 450 m, in the block
}

TEST_CASE("sampling: a volume is read at every x, a section is the same along x", "[mesh]") {
  const Earth volume = tests::small_volume(DepthReference::surface);
  const Eigen::VectorXd numbers = Eigen::VectorXd::LinSpaced(12, 0.0, 11.0);
  CHECK(sampled(volume, numbers, volume.grid) == numbers);
  const TensorGrid finer(Edges{{0, 5, 10, 15, 20}, {0, 10, 20, 30}, {0, 5, 10}});
  const Eigen::VectorXd twice = sampled(volume, numbers, finer);
  for (int iz = 0; iz < 2; ++iz) {
    for (int iy = 0; iy < 3; ++iy) {
      for (int ix = 0; ix < 4; ++ix)
        CHECK(twice[finer.index(iz, iy, ix)] == numbers[volume.grid.index(iz, iy, ix / 2)]);
    }
  }
  const Earth section{TensorGrid::section({0, 10, 20, 30}, {0, 5, 10})};
  const Eigen::VectorXd of_section = Eigen::VectorXd::LinSpaced(6, 0.0, 5.0);
  const Eigen::VectorXd along_x = sampled(section, of_section, volume.grid);
  for (int cell = 0; cell < 12; ++cell) CHECK(along_x[cell] == of_section[cell / 2]);
}

TEST_CASE("sampling: cells stay at their true z between a draped grid and one on the datum", "[mesh]") {
  const std::vector<double> x{0, 10, 20}, y{0, 10}, z{0, 10, 20, 30};
  Eigen::MatrixXd relief(2, 2);
  relief << 0.0, 0.0, 16.0, 16.0;  // 4 m at the first cells along x, 12 m at the second
  const Surface surface({0, 20}, {0, 10}, relief);
  const Earth draped{TensorGrid(Edges{x, y, z}), surface},
      on_datum{TensorGrid(Edges{x, y, z}, DepthReference::datum), surface};
  const Eigen::VectorXd layer = (Eigen::VectorXd(6) << 0, 0, 1, 1, 2, 2).finished();
  CHECK(sampled(draped, layer, on_datum.grid) == (Eigen::VectorXd(6) << 0, 0, 1, 0, 2, 1).finished());
  CHECK(sampled(on_datum, layer, draped.grid) == (Eigen::VectorXd(6) << 0, 1, 1, 2, 2, 2).finished());
}

TEST_CASE("sampling: values that do not fit their grid are refused", "[mesh]") {
  const Earth layers = tests::small_layers();
  CHECK_THAT(tests::error_of<core::ShapeError>(
                 [&] { static_cast<void>(sampled(layers, Eigen::VectorXd::Zero(2), layers.grid)); }),
             tests::HasId("wrong_size"));
}
