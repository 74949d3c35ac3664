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
  CHECK_THAT(inversion::uncertainty::in_words({posterior_that_sees(seen), {}}, volume, 1.0),
             Catch::Contains("They determine 83 % of the cells, down to 2 km"));
  const TensorGrid layers = TensorGrid::layers(1000.0, 1.0, 3);
  CHECK_THAT(
      inversion::uncertainty::in_words({posterior_that_sees(Eigen::Vector3d(1, 1, 0)), {}}, layers, 1.0),
      Catch::Contains("67 % of the cells, down to 2 km"));
}

TEST_CASE("uncertainty: models of an ensemble are said to fit the data only where they do", "[inversion]") {
  using inversion::uncertainty::EnsembleSpread;
  using inversion::uncertainty::Fitting;
  const TensorGrid layers = TensorGrid::layers(1000.0, 1.0, 3);
  const EnsembleSpread spread{.deviation_decades = Eigen::Vector3d(0.1, 0.2, 0.3),
                              .smallest_rms = 2.5,
                              .largest_rms = 3.5,
                              .n_samples = 20};
  CHECK(spread.fitting(3.0) == Fitting::all);  // up to 20 % above
  CHECK(spread.fitting(2.8) == Fitting::some);
  CHECK(spread.fitting(2.0) == Fitting::none);
  const auto words = [&](double target_rms) {
    return inversion::uncertainty::in_words({{}, spread}, layers, target_rms);
  };
  CHECK_THAT(words(3.0), Catch::Contains("20 models") && Catch::Contains("All of them fit the data") &&
                             Catch::Contains("target 3"));
  CHECK_THAT(words(2.8), Catch::Contains("Not all of them fit") && Catch::Contains("target 2.8"));
  CHECK_THAT(words(2.0), Catch::Contains("None of them fits the data") && !Catch::Contains("All of them"));
}
