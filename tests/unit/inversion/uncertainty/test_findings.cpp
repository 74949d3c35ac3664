// SPDX-License-Identifier: Apache-2.0
#include "inversion/uncertainty/findings.hpp"
#include "tests/support/catch.hpp"

using namespace lodestone;
using inversion::uncertainty::PosteriorSpread;
using physics::mesh::TensorGrid;

namespace {

/// Returns a posterior that sees the cells with a 1, known to 0.5 decades.
PosteriorSpread posterior_that_sees(const Eigen::VectorXd& investigated) {
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(investigated.size());
  return {.prior_deviation_decades = ones,
          .deviation_decades = 0.5 * ones,
          .variance_reduction = 0.75 * ones,
          .resolution = ones,
          .investigated = investigated,
          .unknowns = "cells"};
}

}  // namespace

TEST_CASE("uncertainty: the depth that data see is the median over the columns of a volume and of layers",
          "[inversion]") {
  const TensorGrid volume(physics::mesh::Edges{{0, 1, 2, 3}, {0, 1}, {0, 1000, 2000}});
  const Eigen::VectorXd seen = (Eigen::VectorXd(6) << 1, 1, 1, 0, 1, 1).finished();  // not the first column
  CHECK_THAT(inversion::uncertainty::in_words({posterior_that_sees(seen), {}}, volume),
             Catch::Contains("They determine 83 % of the cells, down to 2 km"));
  const TensorGrid layers = TensorGrid::layers(1000.0, 1.0, 3);
  CHECK_THAT(inversion::uncertainty::in_words({posterior_that_sees(Eigen::Vector3d(1, 1, 0)), {}}, layers),
             Catch::Contains("67 % of the cells, down to 2 km"));
}
