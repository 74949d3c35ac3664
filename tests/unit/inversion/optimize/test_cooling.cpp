// SPDX-License-Identifier: Apache-2.0
// Gauss–Newton under a λ that cools.
#include "engine/core/error.hpp"
#include "inversion/optimize/gauss_newton.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/inversion/fixtures.hpp"

#include <Eigen/Dense>

using namespace lodestone;
using Catch::Matchers::Contains;
using inversion::optimize::Cooling;
using inversion::optimize::GaussNewton;
using inversion::optimize::GaussNewtonOptions;
using inversion::optimize::StopReason;

namespace {

Eigen::VectorXd zero_start() { return Eigen::VectorXd::Zero(tests::CurvedProblem::n); }

}  // namespace

TEST_CASE(
    "cooling: on a linear problem every model is the Tikhonov solution of its lambda, and lambda falls as "
    "asked") {
  const Eigen::MatrixXd a = tests::random_matrix(40, 30, 1);
  const Eigen::VectorXd observed =
      a * Eigen::VectorXd::LinSpaced(30, 0.0, 2.0) + 0.5 * tests::random_matrix(40, 1, 2).col(0);
  const inversion::optimize::Objective objective{core::affine(a, Eigen::VectorXd::Zero(40)),
                                                 tests::plain_misfit(observed, 0.5),
                                                 tests::line_roughness(30)};
  const auto witness = std::make_shared<tests::Witness>();
  GaussNewton optimizer(MPI_COMM_SELF,
                        {.lambda = Cooling{.factor = 2.0}, .lambda_start = 1e4, .max_halvings = 0});
  const auto summary = optimizer.minimize(objective, Eigen::VectorXd::Zero(30), {.directives = {witness}});
  INFO(summary.brief());
  CHECK(summary.reason == StopReason::target_reached);
  CHECK(summary.rms <= 1.0);
  REQUIRE(summary.history.size() > 3);
  CHECK(summary.history[summary.history.size() - 2].rms > 1.0);
  const Eigen::MatrixXd r(objective.regularization->roughness());
  for (std::size_t i = 1; i < summary.history.size(); ++i) {
    const double lambda = 1e4 / std::pow(2.0, static_cast<double>(i) - 1.0);
    CHECK(summary.history[i].lambda == lambda);
    CHECK(summary.history[i].n_forward == 1);
    const Eigen::VectorXd tikhonov =
        (a.transpose() * a / 0.25 + lambda * r.transpose() * r).ldlt().solve(a.transpose() * observed / 0.25);
    CHECK((witness->states[i].model - tikhonov).norm() < 1e-9 * tikhonov.norm());
  }
}

TEST_CASE("cooling: a nonlinear problem reaches the target with about one forward run per iteration") {
  const tests::CurvedProblem problem;
  const auto summary =
      GaussNewton(MPI_COMM_SELF, {.lambda = Cooling{}}).minimize(problem.objective(), zero_start());
  INFO(summary.brief());
  CHECK(summary.reason == StopReason::target_reached);
  CHECK(summary.rms <= 1.0);
  int n_forward = 0;
  for (const auto& row : summary.history) n_forward += row.n_forward;
  CHECK(n_forward <= 2 * static_cast<int>(summary.history.size()));
}

TEST_CASE("cooling: lambda stays for as many iterations as the rate says, a resumed run included") {
  const tests::CurvedProblem problem;
  const GaussNewtonOptions options{.stop = {.max_iterations = 6, .target_rms = 0.2, .patience = 20},
                                   .lambda = Cooling{.rate = 2},
                                   .lambda_start = 300.0};
  const auto witness = std::make_shared<tests::Witness>();
  GaussNewton whole(MPI_COMM_SELF, options);
  const auto expected = whole.minimize(problem.objective(), zero_start(), {.directives = {witness}});
  REQUIRE(expected.history.size() >= 6);
  CHECK(expected.history[1].lambda == 300.0);
  CHECK(expected.history[2].lambda == 300.0);
  CHECK(expected.history[3].lambda == 300.0 / Cooling{}.factor);
  CHECK(tests::difference_of_resumed(*witness, expected, [&](inversion::optimize::InversionState state) {
          return GaussNewton(MPI_COMM_SELF, options).resume(problem.objective(), std::move(state));
        }).empty());
}

TEST_CASE("cooling: a start at a lambda too large to matter does not count as stagnation") {
  const tests::CurvedProblem problem;
  const auto summary =
      GaussNewton(MPI_COMM_SELF, {.stop = {.max_iterations = 40}, .lambda = Cooling{}, .lambda_start = 1e9})
          .minimize(problem.objective(), zero_start());
  INFO(summary.brief());
  CHECK(summary.history[2].rms > 0.99 * summary.history[1].rms);
  CHECK(summary.history[3].rms > 0.99 * summary.history[2].rms);
  CHECK(summary.reason == StopReason::target_reached);
}

TEST_CASE("cooling: it ends as stagnated when the data cannot be fitted") {
  const tests::CurvedProblem problem;
  const Eigen::VectorXd observed = problem.observed + 5.0 * tests::random_matrix(problem.n_data, 1, 9).col(0);
  const inversion::optimize::Objective objective{problem.map, tests::plain_misfit(observed, 0.01),
                                                 tests::line_roughness(problem.n)};
  const auto summary = GaussNewton(MPI_COMM_SELF, {.stop = {.max_iterations = 60}, .lambda = Cooling{}})
                           .minimize(objective, zero_start());
  INFO(summary.brief());
  CHECK(summary.reason == StopReason::stagnated);
  CHECK(summary.history.size() < 40);
}

TEST_CASE("cooling: failed trials shorten the step, and a run whose trials all fail says why") {
  const tests::CurvedProblem problem;
  const auto fake = std::make_shared<tests::FakeMap>(problem.map);
  fake->spoil_forward = [](Eigen::VectorXd&, int call) {
    if (call == 2) throw core::SolverError("tests::FakeMap", "no convergence");
  };
  const GaussNewtonOptions options{.stop = {.max_iterations = 3, .target_rms = 0.3}, .lambda = Cooling{}};
  const auto summary = GaussNewton(MPI_COMM_SELF, options).minimize(problem.objective(fake), zero_start());
  REQUIRE(summary.history.size() == 4);
  CHECK(summary.history[1].step == 0.5);
  fake->n_value = fake->n_linearize = 0;
  fake->spoil_forward = [](Eigen::VectorXd&, int call) {
    if (call > 1) throw core::SolverError("tests::FakeMap", "no convergence");
  };
  const auto failed = GaussNewton(MPI_COMM_SELF, options).minimize(problem.objective(fake), zero_start());
  CHECK(failed.reason == StopReason::failed);
  CHECK_THAT(failed.message, Contains("no convergence"));
}

TEST_CASE("cooling: options without sense are refused") {
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(GaussNewton(MPI_COMM_SELF, {.lambda = Cooling{.factor = 1.0}})); }),
             tests::HasId("wrong_lambda_options", {"factor of Cooling", "1"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(GaussNewton(MPI_COMM_SELF, {.lambda = Cooling{.rate = 0}})); }),
             tests::HasId("wrong_counts", {"rate of Cooling", "0"}));
}
