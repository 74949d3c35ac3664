// SPDX-License-Identifier: Apache-2.0
// Why a run ends, and what is left when it ends badly.
#include "engine/core/error.hpp"
#include "inversion/optimize/gauss_newton.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/inversion/fixtures.hpp"

#include <limits>
#include <tuple>

using namespace lodestone;
using Catch::Matchers::Contains;
using inversion::optimize::GaussNewton;
using inversion::optimize::GaussNewtonOptions;
using inversion::optimize::Occam;
using inversion::optimize::StopReason;

namespace {

Eigen::VectorXd zero_start() { return Eigen::VectorXd::Zero(tests::CurvedProblem::n); }

}  // namespace

TEST_CASE("stop: iterations ran out above the target") {
  const tests::CurvedProblem problem;
  const auto summary = GaussNewton(MPI_COMM_SELF, {.stop = {.max_iterations = 1, .target_rms = 0.01},
                                                   .lambda = Occam{.max_trials = 1}})
                           .minimize(problem.objective(), zero_start());
  CHECK(summary.reason == StopReason::max_iterations);
  CHECK(summary.history.size() == 2);
  CHECK_THAT(summary.brief(), Contains("1 iterations") && Contains("1 Jacobians"));
}

TEST_CASE("stop: stagnated when the rms no longer falls") {
  const tests::CurvedProblem problem;
  Eigen::VectorXd observed = problem.observed;
  observed +=
      5.0 * tests::random_matrix(problem.n_data, 1, 9).col(0);  // more data than unknowns: cannot be fitted
  const inversion::optimize::Objective objective{problem.map, tests::plain_misfit(observed, 0.01),
                                                 tests::line_roughness(problem.n)};
  const auto summary =
      GaussNewton(MPI_COMM_SELF, {.stop = {.max_iterations = 40}}).minimize(objective, zero_start());
  CHECK(summary.reason == StopReason::stagnated);
  CHECK(summary.history.size() < 30);
  CHECK(summary.usable());
}

TEST_CASE("stop: a reference model at the target needs no iteration") {
  const tests::CurvedProblem problem;
  const inversion::optimize::Objective objective{problem.map,
                                                 tests::plain_misfit(problem.map->value(zero_start()), 0.1),
                                                 tests::line_roughness(problem.n)};
  const auto summary = GaussNewton(MPI_COMM_SELF).minimize(objective, zero_start());
  CHECK(summary.reason == StopReason::target_reached);
  CHECK(summary.history.size() == 1);
}

TEST_CASE(
    "stop: at the target the roughness has settled after a jump, not after a creeping step that only mended "
    "the fit") {
  const tests::CurvedProblem problem;
  const GaussNewtonOptions first_only{.lambda = Occam{.smooth_at_target = false}}, options;
  const auto witness = std::make_shared<tests::Witness>();
  GaussNewton to_target(MPI_COMM_SELF, first_only);
  REQUIRE(to_target.minimize(problem.objective(), zero_start(), {.directives = {witness}}).reason ==
          StopReason::target_reached);
  inversion::optimize::InversionState twice =
      witness->states.back();  // as if it had stayed where it was for one more iteration
  twice.history.push_back(twice.history.back());
  for (const auto& [kind, goes_on] : {std::pair{inversion::optimize::StepKind::jump, false},
                                      std::pair{inversion::optimize::StepKind::creep, true}}) {
    twice.history.back().kind = kind;
    const auto fake = std::make_shared<tests::FakeMap>(problem.map);
    const auto summary = GaussNewton(MPI_COMM_SELF, options).resume(problem.objective(fake), twice);
    CHECK(summary.reason == StopReason::target_reached);
    CHECK((fake->n_forward() > 1) == goes_on);  // one gives the responses of the saved model
  }
}

TEST_CASE("stop: asked from outside, it ends after the iteration with the given reason") {
  const tests::CurvedProblem problem;
  int n_asked = 0;
  GaussNewton gauss_newton(MPI_COMM_SELF, {.stop = {.target_rms = 0.01}});
  const auto stop = [&]() -> std::optional<StopReason> {
    if (++n_asked < 3) return std::nullopt;
    return StopReason::time_limit;
  };
  const auto summary = gauss_newton.minimize(problem.objective(), zero_start(), {.stop = stop});
  CHECK(summary.reason == StopReason::time_limit);
  CHECK(summary.history.size() == 3);
  CHECK_FALSE(summary.message.empty());
  // a hook belongs to one run
  CHECK(gauss_newton.minimize(problem.objective(), zero_start()).reason != StopReason::time_limit);
  CHECK(n_asked == 3);
}

TEST_CASE("stop: a failed linearization ends the run and keeps the last good model") {
  const tests::CurvedProblem problem;
  const auto fake = std::make_shared<tests::FakeMap>(problem.map);
  fake->before_linearize = [](int call) {
    if (call == 3) throw core::SolverError("tests::FakeMap", "zero pivot in row 17");
  };
  GaussNewton gauss_newton(MPI_COMM_SELF, {.stop = {.target_rms = 0.1}});
  const auto redesign = [&](const inversion::optimize::RedesignView& view) {
    return view.iteration < 3 ? fake : nullptr;  // no trial before a redesign is kept
  };
  const auto summary = gauss_newton.minimize(problem.objective(fake), zero_start(), {.redesign = redesign});
  CHECK(summary.reason == StopReason::failed);
  CHECK_THAT(summary.message, Contains("zero pivot in row 17"));
  REQUIRE(summary.history.size() == 3);
  const auto two = GaussNewton(MPI_COMM_SELF, {.stop = {.max_iterations = 2, .target_rms = 0.1}})
                       .minimize(problem.objective(), zero_start());
  CHECK((summary.model - two.model).norm() == 0.0);
  CHECK((summary.predicted - two.predicted).norm() == 0.0);
}

TEST_CASE("stop: failed or NaN trials are rejected and the search goes on") {
  const tests::CurvedProblem problem;
  const auto fake = std::make_shared<tests::FakeMap>(problem.map);
  fake->spoil_forward = [](Eigen::VectorXd& value, int call) {
    if (call == 2) throw core::SolverError("tests::FakeMap", "no convergence");
    if (call == 4) value[0] = std::numeric_limits<double>::quiet_NaN();
    if (call == 6) throw core::InvalidArgument("tests::FakeMap", "resistivity overflows");
  };
  const auto summary = GaussNewton(MPI_COMM_SELF).minimize(problem.objective(fake), zero_start());
  INFO(summary.brief());
  CHECK(summary.reason == StopReason::target_reached);
  CHECK(fake->n_forward() > 6);
}

TEST_CASE("stop: when every trial fails the summary says why and keeps the model") {
  const tests::CurvedProblem problem;
  const auto fake = std::make_shared<tests::FakeMap>(problem.map);
  fake->spoil_forward = [](Eigen::VectorXd& value, int call) {
    if (call > 1) value.setConstant(std::numeric_limits<double>::quiet_NaN());
  };
  const auto summary = GaussNewton(MPI_COMM_SELF, {.lambda = Occam{.max_trials = 4}})
                           .minimize(problem.objective(fake), zero_start());
  CHECK(summary.reason == StopReason::failed);
  CHECK_THAT(summary.message, Contains("tests::FakeMap") && Contains("nan at index 0 of 40"));
  CHECK(summary.usable());
  CHECK(summary.model == zero_start());
}

TEST_CASE("stop: a start model without responses gives a summary that is not usable") {
  const tests::CurvedProblem problem;
  const auto fake = std::make_shared<tests::FakeMap>(problem.map);
  fake->spoil_forward = [](Eigen::VectorXd&, int) {
    throw core::SolverError("tests::FakeMap", "out of memory");
  };
  const auto summary = GaussNewton(MPI_COMM_SELF).minimize(problem.objective(fake), zero_start());
  CHECK(summary.reason == StopReason::failed);
  CHECK_FALSE(summary.usable());
  CHECK_THAT(summary.brief(), Contains("out of memory"));
}

TEST_CASE(
    "step: when neither jump nor creeping step lowers the rms, or hardly, shorter steps are tried down to "
    "the lowest rms") {
  // Newton's method for atan(v) = 0: the full step from 3 lands at −9.5, from 1.38 at −1.36.
  const auto steep = core::pointwise(
      "atan", 1, [](double v) { return std::atan(v); }, [](double v) { return 1.0 / (1.0 + v * v); });
  const inversion::optimize::Objective objective{steep, tests::plain_misfit(Eigen::VectorXd::Zero(1), 1e-3),
                                                 tests::line_roughness(1, 0.0)};
  const GaussNewtonOptions options{
      .stop = {.max_iterations = 1}, .lambda = Occam{.max_trials = 1}, .lambda_start = 1e-6};
  for (const auto& [start, step, n_forward] : {std::tuple{3.0, 0.25, 5}, std::tuple{1.38, 0.5, 4}}) {
    const auto summary =
        GaussNewton(MPI_COMM_SELF, options).minimize(objective, Eigen::VectorXd::Constant(1, start));
    REQUIRE(summary.history.size() == 2);
    CHECK(summary.history[1].step == step);
    CHECK(summary.history[1].n_forward == n_forward);
    CHECK(summary.history[1].rms < 0.2 * summary.history[0].rms);
  }
}

TEST_CASE("stop: broken input is an exception, not a summary") {
  const tests::CurvedProblem problem;
  CHECK_THAT(
      tests::error_of<core::ShapeError>([&] {
        static_cast<void>(GaussNewton(MPI_COMM_SELF).minimize(problem.objective(), Eigen::VectorXd::Zero(3)));
      }),
      tests::HasId("wrong_model", {"30", "3"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(GaussNewton(MPI_COMM_SELF, {.stop = {.target_rms = 0.0}})); }),
             tests::HasId("wrong_rms", {"target_rms", "0"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(GaussNewton(MPI_COMM_SELF, {.lambda = Occam{.max_trials = 0}})); }),
             tests::HasId("wrong_counts", {"max_trials", "0"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(GaussNewton(MPI_COMM_SELF, {.stop = {.min_rms_drop = -1.0}})); }),
             tests::HasId("wrong_rms", {"min_rms_drop", "-1"}));
  inversion::optimize::Objective objective = problem.objective();
  objective.forward = core::affine(Eigen::MatrixXd::Zero(3, problem.n), Eigen::VectorXd::Zero(3));
  CHECK_THAT(tests::error_of<core::ShapeError>(
                 [&] { static_cast<void>(GaussNewton(MPI_COMM_SELF).minimize(objective, zero_start())); }),
             tests::HasId("wrong_data", {"3", "40"}));
  objective.forward = nullptr;
  CHECK_THROWS_AS(GaussNewton(MPI_COMM_SELF).minimize(objective, zero_start()), core::InvalidArgument);
  inversion::optimize::InversionState without_history;
  without_history.model = zero_start();
  CHECK_THROWS_AS(GaussNewton(MPI_COMM_SELF).resume(problem.objective(), without_history),
                  core::InvalidArgument);
}
