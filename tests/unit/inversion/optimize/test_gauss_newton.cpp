// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "inversion/optimize/gauss_newton.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/inversion/fixtures.hpp"

#include <Eigen/Dense>

using namespace lodestone;
using inversion::optimize::GaussNewton;
using inversion::optimize::GaussNewtonOptions;
using inversion::optimize::Occam;
using inversion::optimize::StopReason;

TEST_CASE(
    "Gauss-Newton: a linear problem ends at the Tikhonov solution of its lambda, the largest one at the "
    "target") {
  const Eigen::MatrixXd a = tests::random_matrix(40, 30, 1);
  const Eigen::VectorXd truth = Eigen::VectorXd::LinSpaced(30, 0.0, 2.0);
  const Eigen::VectorXd observed = a * truth + 0.5 * tests::random_matrix(40, 1, 2).col(0);
  const auto regularization = tests::line_roughness(30);
  GaussNewton gauss_newton(MPI_COMM_SELF, {.lambda = Occam{.tolerance = 0.02}});
  const auto summary = gauss_newton.minimize(
      {core::affine(a, Eigen::VectorXd::Zero(40)), tests::plain_misfit(observed, 0.5), regularization},
      Eigen::VectorXd::Zero(30));
  REQUIRE(summary.usable());
  CHECK(summary.reason == StopReason::target_reached);
  CHECK(summary.rms <= 1.0);
  CHECK(summary.rms > 0.98);
  const auto tikhonov = [&](double lambda) -> Eigen::VectorXd {
    const Eigen::MatrixXd r(regularization->roughness());
    return (a.transpose() * a / 0.25 + lambda * r.transpose() * r)
        .ldlt()
        .solve(a.transpose() * observed / 0.25);
  };
  CHECK((summary.model - tikhonov(summary.lambda)).norm() < 1e-9 * summary.model.norm());
  CHECK((a * tikhonov(1.3 * summary.lambda) - observed).norm() / 0.5 / std::sqrt(40.0) > 1.0);
  CHECK(summary.roughness == Approx(regularization->cost(summary.model)));
  CHECK((summary.predicted - a * summary.model).norm() < 1e-10 * summary.predicted.norm());
  CHECK(summary.history.back().iteration <= 3);
}

TEST_CASE(
    "Gauss-Newton: the step does not depend on the model it is linearized at when the problem is linear") {
  const Eigen::MatrixXd a = tests::random_matrix(20, 10, 1);
  const Eigen::VectorXd observed = tests::random_matrix(20, 1, 2).col(0);
  const inversion::optimize::Objective objective{core::affine(a, Eigen::VectorXd::Zero(20)),
                                                 tests::plain_misfit(observed, 0.01),
                                                 tests::line_roughness(10, 1.0)};
  const GaussNewtonOptions options{
      .stop = {.max_iterations = 1}, .lambda = Occam{.max_trials = 1}, .lambda_start = 2.0};
  const auto from_zero = GaussNewton(MPI_COMM_SELF, options).minimize(objective, Eigen::VectorXd::Zero(10));
  const auto from_far =
      GaussNewton(MPI_COMM_SELF, options).minimize(objective, Eigen::VectorXd::Constant(10, 50.0));
  CHECK((from_zero.model - from_far.model).norm() < 1e-9 * from_zero.model.norm());
}

TEST_CASE("Gauss-Newton: a nonlinear problem reaches the target, then smooths as long as that pays") {
  const tests::CurvedProblem problem;
  const auto fake = std::make_shared<tests::FakeMap>(problem.map);
  const auto witness = std::make_shared<tests::Witness>();
  const auto objective = problem.objective(fake);
  const double target = objective.misfit.rms(problem.map->value(problem.truth));
  GaussNewton gauss_newton(MPI_COMM_SELF, {.stop = {.target_rms = target}});
  const auto summary =
      gauss_newton.minimize(objective, Eigen::VectorXd::Zero(problem.n), {.directives = {witness}});
  INFO(summary.brief());
  CHECK(summary.reason == StopReason::target_reached);
  CHECK(summary.rms <= target);
  int n_forward = 0, n_jacobian = 0;
  for (std::size_t i = 0; i < summary.history.size(); ++i) {
    const auto& row = summary.history[i];
    n_forward += row.n_forward;
    n_jacobian += row.n_jacobian;
    CHECK(row.iteration == static_cast<int>(i));
    if (i == 0) continue;
    CHECK(row.rms_at_start == Approx(summary.history[i - 1].rms));
    if (summary.history[i - 1].rms > target) CHECK(row.rms < summary.history[i - 1].rms);
    if (summary.history[i - 1].rms <= target) CHECK(row.roughness < summary.history[i - 1].roughness);
  }
  CHECK(witness->n_iterations == static_cast<int>(summary.history.size()));
  CHECK(witness->n_progress > 0);
  CHECK(fake->n_linearize >= n_jacobian);
  CHECK(fake->n_forward() >= n_forward);  // a last search that finds nothing smoother has no row
  // The truth is one of the models at the target.
  CHECK(summary.roughness < objective.regularization->cost(problem.truth));
}

TEST_CASE("Gauss-Newton: forward runs per iteration stay few") {
  const tests::CurvedProblem problem;
  const auto summary = GaussNewton(MPI_COMM_SELF, {.stop = {.max_iterations = 8, .target_rms = 0.05}})
                           .minimize(problem.objective(), Eigen::VectorXd::Zero(problem.n));
  int n_forward = 0;
  for (const auto& row : summary.history) n_forward += row.n_forward;
  CHECK(n_forward <= 6 * static_cast<int>(summary.history.size()));
}

TEST_CASE("Gauss-Newton: masked data do not move the result") {
  const tests::CurvedProblem problem;
  const auto run = [&](double nonsense) {
    Eigen::VectorXd observed = problem.observed;
    std::vector<int> reason(static_cast<std::size_t>(problem.n_data), 0);
    for (const int i : {0, 7, 39}) {
      reason[static_cast<std::size_t>(i)] = 1;
      observed[i] = nonsense;
    }
    const auto misfit = tests::masked_misfit(observed, problem.sigma, reason);
    return GaussNewton(MPI_COMM_SELF)
        .minimize({problem.map, misfit, tests::line_roughness(problem.n)}, Eigen::VectorXd::Zero(problem.n));
  };
  const auto clean = run(0.0), wild = run(1e30);
  CHECK(tests::same_bits(clean.model, wild.model));
  CHECK(clean.rms == wild.rms);
}

TEST_CASE("Gauss-Newton: a resumed run takes the identical trajectory, bit by bit") {
  const tests::CurvedProblem problem;
  const GaussNewtonOptions options{.stop = {.max_iterations = 8, .target_rms = 0.6}};
  const auto witness = std::make_shared<tests::Witness>();
  GaussNewton whole(MPI_COMM_SELF, options);
  const auto expected =
      whole.minimize(problem.objective(), Eigen::VectorXd::Zero(problem.n), {.directives = {witness}});
  REQUIRE(witness->states.size() >= 3);
  CHECK(tests::difference_of_resumed(*witness, expected, [&](inversion::optimize::InversionState state) {
          return GaussNewton(MPI_COMM_SELF, options).resume(problem.objective(), std::move(state));
        }).empty());
}

TEST_CASE("Gauss-Newton: a redesigned forward map is used, logged and restored by resume") {
  const tests::CurvedProblem problem;
  const auto shifted = core::compose(core::affine(Eigen::MatrixXd::Identity(problem.n_data, problem.n_data),
                                                  Eigen::VectorXd::Constant(problem.n_data, 0.05)),
                                     problem.map);
  const GaussNewtonOptions options{.stop = {.max_iterations = 4, .target_rms = 0.3}};
  const auto redesign = [&](const inversion::optimize::RedesignView& view) -> core::MapPtr {
    return view.iteration == 2 ? shifted : nullptr;
  };
  const auto witness = std::make_shared<tests::Witness>();
  GaussNewton whole(MPI_COMM_SELF, options);
  const auto expected = whole.minimize(problem.objective(), Eigen::VectorXd::Zero(problem.n),
                                       {.directives = {witness}, .redesign = redesign});
  REQUIRE(expected.history.size() >= 4);
  CHECK(expected.history[1].rms_at_start == Approx(expected.history[0].rms));
  CHECK(expected.history[2].rms_at_start != Approx(expected.history[1].rms).epsilon(1e-6));
  CHECK((expected.predicted - shifted->value(expected.model)).norm() == 0.0);
  GaussNewton later(MPI_COMM_SELF, options);
  const auto resumed = later.resume(problem.objective(), witness->states[3], {.redesign = redesign});
  CHECK(tests::same_bits(resumed.model, expected.model));
  CHECK(tests::same_bits(resumed.predicted, expected.predicted));
}

TEST_CASE(
    "Gauss-Newton: where jumps only raise the rms, steps creep, and resume goes on creeping bit by bit") {
  // One λ, far too large: a jump falls back to the reference model, a creeping step improves on a start near
  // the truth.
  const tests::CurvedProblem problem;
  const Eigen::VectorXd start = 0.8 * problem.truth;
  const GaussNewtonOptions options{.stop = {.max_iterations = 3, .target_rms = 0.1},
                                   .lambda = Occam{.max_trials = 1},
                                   .lambda_start = 1e5};
  const auto witness = std::make_shared<tests::Witness>();
  GaussNewton gauss_newton(MPI_COMM_SELF, options);
  const auto summary = gauss_newton.minimize(problem.objective(), start, {.directives = {witness}});
  REQUIRE(summary.history.size() == 4);
  CHECK(summary.history[0].kind == inversion::optimize::StepKind::start);
  for (std::size_t i = 1; i < 4; ++i) {
    CHECK(summary.history[i].kind == inversion::optimize::StepKind::creep);
    CHECK(summary.history[i].rms < 0.99 * summary.history[i - 1].rms);
    CHECK(summary.history[i].n_forward ==
          (i == 1 ? 2 : 1));  // the jump is tried before the first creeping step alone
  }
  const auto resumed = GaussNewton(MPI_COMM_SELF, options).resume(problem.objective(), witness->states[1]);
  CHECK(witness->states[1].creep_lambda > 0.0);
  CHECK(tests::same_bits(resumed.model, summary.model));
}

TEST_CASE("Gauss-Newton: an accepted trial is not solved again, which changes no bit") {
  const std::vector<decltype(GaussNewtonOptions::lambda)> rules{Occam{}, inversion::optimize::Cooling{}};
  for (const auto& rule : rules) {
    const tests::CurvedProblem problem;
    const GaussNewtonOptions options{.stop = {.max_iterations = 4, .target_rms = 0.5}, .lambda = rule};
    const auto run = [&](const std::shared_ptr<tests::FakeMap>& fake, bool redesigns) {
      inversion::optimize::Hooks hooks;
      if (redesigns)  // with the same map, which forgets the trials
        hooks.redesign = [fake](const inversion::optimize::RedesignView&) { return fake; };
      return GaussNewton(MPI_COMM_SELF, options)
          .minimize(problem.objective(fake), Eigen::VectorXd::Zero(problem.n), hooks);
    };
    const auto kept = std::make_shared<tests::FakeMap>(problem.map),
               solved_again = std::make_shared<tests::FakeMap>(problem.map);
    const auto summary = run(kept, false), again = run(solved_again, true);
    REQUIRE(summary.history.size() == 5);
    REQUIRE(again.history.size() == 5);
    int n_forward = 0;
    for (std::size_t i = 0; i < 5; ++i) {
      n_forward += summary.history[i].n_forward;
      CHECK(summary.history[i].rms == again.history[i].rms);
      CHECK(summary.history[i].lambda == again.history[i].lambda);
    }
    CHECK(kept->n_forward() == n_forward);
    CHECK(solved_again->n_forward() == n_forward + 4);
    CHECK(tests::same_bits(summary.model, again.model));
    CHECK(tests::same_bits(summary.predicted, again.predicted));
  }
}
