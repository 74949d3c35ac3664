// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "inversion/prior/coded_roughness.hpp"
#include "inversion/prior/gaussian_decoder.hpp"
#include "inversion/prior/roughness.hpp"
#include "inversion/uncertainty/posterior.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/inversion/fixtures.hpp"

#include <Eigen/Dense>

using namespace lodestone;
using namespace lodestone::inversion;
using Catch::Contains;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr double sigma = 0.5, lambda = 3.0;

/// y = A m with errors σ and the roughness of a line, and the dense formulas of its posterior.
struct LinearProblem {
  LinearProblem(Index n_data, Index n) : a(tests::random_matrix(n_data, n, 1)) {
    const MatrixXd r = objective.regularization->roughness();
    prior = lambda * r.transpose() * r;
    covariance = (a.transpose() * a / (sigma * sigma) + prior).inverse();
    resolution = covariance * a.transpose() * a / (sigma * sigma);
  }
  MatrixXd a;
  optimize::Objective objective{core::affine(a, VectorXd::Zero(a.rows())),
                                tests::plain_misfit(tests::random_matrix(a.rows(), 1, 2).col(0), sigma),
                                tests::line_roughness(a.cols(), 0.5)};
  VectorXd at = VectorXd::LinSpaced(a.cols(), 0.0, 1.0);
  MatrixXd prior, covariance, resolution;
};

double gap(const MatrixXd& a, const MatrixXd& b) { return (a - b).norm() / b.norm(); }

}  // namespace

TEST_CASE(
    "posterior: in either space, with more data than unknowns and with fewer, it is the dense formula") {
  for (const auto& [n_data, n] : {std::pair<Index, Index>{60, 20}, {12, 40}}) {
    const LinearProblem problem(n_data, n);
    const MatrixXd push = tests::random_matrix(7, n, 3);
    for (const auto space : {optimize::SystemSpace::data, optimize::SystemSpace::model}) {
      const uncertainty::Posterior posterior(MPI_COMM_SELF, problem.objective, problem.at, lambda, space);
      CHECK(gap(posterior.spread().posterior, problem.covariance.diagonal().cwiseSqrt()) < 1e-10);
      CHECK(gap(posterior.spread().prior, problem.prior.inverse().diagonal().cwiseSqrt()) < 1e-10);
      CHECK(gap(posterior.resolution(), problem.resolution.diagonal()) < 1e-10);
      CHECK(posterior.degrees_of_freedom() == Approx(problem.resolution.trace()).epsilon(1e-10));
      CHECK(gap(posterior.covariance_columns({3, 0}),
                problem.covariance(Eigen::all, std::vector<Index>{3, 0})) < 1e-10);
      CHECK(gap(posterior.resolution_columns({5}), problem.resolution.col(5)) < 1e-10);
      const uncertainty::Spread pushed =
          posterior.spread_of(*core::affine(push, VectorXd::Zero(7))->linearize(problem.at));
      CHECK(gap(pushed.posterior, (push * problem.covariance * push.transpose()).diagonal().cwiseSqrt()) <
            1e-10);
      CHECK(gap(pushed.prior, (push * problem.prior.inverse() * push.transpose()).diagonal().cwiseSqrt()) <
            1e-10);
    }
  }
}

TEST_CASE("posterior: its draws have its mean and covariance, and are the same in either space") {
  const LinearProblem problem(9, 6);
  const uncertainty::Posterior in_data(MPI_COMM_SELF, problem.objective, problem.at, lambda,
                                       optimize::SystemSpace::data);
  const uncertainty::Posterior in_model(MPI_COMM_SELF, problem.objective, problem.at, lambda,
                                        optimize::SystemSpace::model);
  const auto error_of = [&](int n) {
    const MatrixXd draws = in_model.samples(7, 0, n).colwise() - problem.at;
    return gap(draws * draws.transpose() / n, problem.covariance);
  };
  CHECK(error_of(400) < 0.25);
  CHECK(error_of(20000) < 0.035);  // falls as 1/√n
  CHECK((in_model.samples(7, 0, 4000).rowwise().mean() - problem.at).norm() < 0.05);
  CHECK(gap(in_data.samples(7, 3, 4), in_model.samples(7, 0, 7).rightCols(4)) < 1e-10);
}

TEST_CASE(
    "posterior: of codes, pushed through their decoder, it is that of cells with the same normal prior") {
  constexpr Index n = 5;
  const MatrixXd root = 0.3 * tests::random_matrix(n, n, 4) + MatrixXd::Identity(n, n),
                 prior = root * root.transpose();
  const VectorXd mean = VectorXd::LinSpaced(n, 1.0, 3.0);
  const auto map = std::make_shared<const prior::SubdomainMap>(
      n, std::vector<prior::Region>{{"all", prior::gaussian_decoder(mean, prior), {{0, 1, 2, 3, 4}}}});
  const physics::mesh::TensorGrid grid =
      physics::mesh::TensorGrid::section({0.0, 1.0}, {0.0, 1.0, 2.0, 3.0, 4.0, 5.0});
  const double rule =
      prior::CodedRoughness(map, prior::roughness_operator(grid, {}), mean).code_weights().at(0);
  const prior::CodedRoughness coded(map, prior::roughness_operator(grid, {}), mean,
                                    {.code_weight = 1.0 / rule});  // the prior itself
  const auto forward = core::affine(tests::random_matrix(3, n, 1), VectorXd::Zero(3));
  const objective::DataMisfit misfit = tests::plain_misfit(VectorXd::Ones(3), 0.4);
  const VectorXd code = VectorXd::LinSpaced(n, -1.0, 1.0);
  const uncertainty::Posterior of_codes(MPI_COMM_SELF, {core::compose(forward, map), misfit, coded.at(code)},
                                        code, 1.0);
  const uncertainty::Spread cells = of_codes.spread_of(*map->linearize(code));
  const auto normal =
      std::make_shared<objective::Regularization>(MatrixXd(root.inverse()).sparseView(), mean);
  const uncertainty::Posterior of_cells(MPI_COMM_SELF, {forward, misfit, normal}, map->value(code), 1.0);
  CHECK(gap(cells.posterior, of_cells.spread().posterior) < 1e-10);
  CHECK(gap(cells.prior, prior.diagonal().cwiseSqrt()) < 1e-10);
  CHECK(of_codes.degrees_of_freedom() == Approx(of_cells.degrees_of_freedom()).epsilon(1e-10));
  const VectorXd left = 1.0 - cells.variance_reduction().array();
  CHECK(gap(left, cells.posterior.cwiseAbs2().cwiseQuotient(cells.prior.cwiseAbs2())) < 1e-12);
}

TEST_CASE(
    "depth of investigation: cells whose deviation hardly fell are not seen, wide priors count as one "
    "decade") {
  const uncertainty::Spread spread{VectorXd{{0.5, 0.5, 20.0, 20.0}}, VectorXd{{0.39, 0.41, 0.7, 0.9}}};
  CHECK(uncertainty::investigated(spread) == std::vector<std::uint8_t>{1, 0, 1, 0});
  CHECK(uncertainty::investigated(spread, {.share = 0.9, .largest_prior = 2.0}) ==
        std::vector<std::uint8_t>{1, 1, 1, 1});
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(uncertainty::investigated(spread, {.share = 1.5})); }),
             tests::HasId("wrong_options", {"1.5"}));
}

TEST_CASE("posterior: what cannot be is refused") {
  const LinearProblem problem(9, 6);
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(uncertainty::Posterior(MPI_COMM_SELF, problem.objective, problem.at, 0.0));
             }),
             tests::HasId("wrong_lambda", {"0"}));
  CHECK_THROWS_AS(uncertainty::Posterior(MPI_COMM_SELF, problem.objective, VectorXd::Zero(5), 1.0),
                  core::ShapeError);
  const uncertainty::Posterior posterior(MPI_COMM_SELF, problem.objective, problem.at, lambda);
  CHECK_THAT(
      tests::error_of<core::InvalidArgument>([&] { static_cast<void>(posterior.covariance_columns({6})); }),
      tests::HasId("unknown_outside", {"5", "6"}));
  CHECK_THROWS_AS(posterior.spread_of(
                      *core::affine(MatrixXd::Ones(2, 5), VectorXd::Zero(2))->linearize(VectorXd::Zero(5))),
                  core::ShapeError);
}
