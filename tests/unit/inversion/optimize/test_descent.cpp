// SPDX-License-Identifier: Apache-2.0
// Nonlinear conjugate gradients and L-BFGS: what both must do, and what only one does.
#include "engine/core/error.hpp"
#include "inversion/optimize/descent.hpp"
#include "inversion/optimize/descent_steps.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/inversion/fixtures.hpp"

#include <Eigen/Dense>

#include <array>

using namespace lodestone;
using Catch::Matchers::Contains;
using inversion::optimize::Descent;
using inversion::optimize::DescentMethod;
using inversion::optimize::DescentOptions;
using inversion::optimize::StopReason;

namespace {

constexpr std::array methods{DescentMethod::nlcg, DescentMethod::lbfgs};

Eigen::VectorXd zero_start() { return Eigen::VectorXd::Zero(tests::CurvedProblem::n); }

/// A linear problem with its Tikhonov solution.
struct LinearProblem {
  static constexpr Eigen::Index n = 30, n_data = 40;
  Eigen::MatrixXd a = tests::random_matrix(n_data, n, 1);
  Eigen::VectorXd observed =
      a * Eigen::VectorXd::LinSpaced(n, 0.0, 2.0) + 0.5 * tests::random_matrix(n_data, 1, 2).col(0);
  inversion::optimize::Objective objective{core::affine(a, Eigen::VectorXd::Zero(n_data)),
                                           tests::plain_misfit(observed, 0.5), tests::line_roughness(n)};
  [[nodiscard]] Eigen::VectorXd tikhonov(double lambda) const {
    const Eigen::MatrixXd r(objective.regularization->roughness());
    return (a.transpose() * a / 0.25 + lambda * r.transpose() * r)
        .ldlt()
        .solve(a.transpose() * observed / 0.25);
  }
};

}  // namespace

TEST_CASE("descent: on a linear problem both methods find the direct solution of their lambda") {
  const LinearProblem problem;
  for (const auto method : methods) {
    const DescentOptions options{.method = method,
                                 .stop = {.max_iterations = 300, .target_rms = 0.01, .patience = 1000},
                                 .lambda_start = 50.0,
                                 .lambda_factor = 1.0 + 1e-10,  // stays, however the rms moves
                                 .memory = 30};
    const auto summary = Descent(MPI_COMM_SELF, options)
                             .minimize(problem.objective, Eigen::VectorXd::Constant(problem.n, 5.0));
    INFO(summary.brief());
    CHECK(summary.lambda == Approx(50.0).epsilon(1e-6));
    const Eigen::VectorXd expected = problem.tikhonov(50.0);
    CHECK((summary.model - expected).norm() < 3e-4 * expected.norm());
    CHECK(summary.roughness == Approx(problem.objective.regularization->cost(expected)).epsilon(1e-3));
    REQUIRE(summary.history.size() > 6);
    for (std::size_t i = 1; i < 6; ++i) {
      CHECK(summary.history[i].kind == inversion::optimize::StepKind::descent);
      CHECK(summary.history[i].n_forward == 1);  // the first length is the minimum along the direction
      CHECK(summary.history[i].n_jacobian == 0);
    }
  }
}

TEST_CASE("descent: with a covariance solved by conjugate gradients it walks and resumes as with a factor") {
  const tests::CurvedProblem problem;
  auto iterated = problem.objective();
  iterated.regularization = tests::line_roughness(tests::CurvedProblem::n, 0.0, 1.0);
  for (const auto method : methods) {
    const Descent descent(MPI_COMM_SELF,
                          {.method = method, .stop = {.max_iterations = 8, .target_rms = 0.1}});
    const auto expected = descent.minimize(problem.objective(), zero_start());
    const auto witness = std::make_shared<tests::Witness>();
    const auto summary = descent.minimize(iterated, zero_start(), {.directives = {witness}});
    CHECK((summary.model - expected.model).norm() < 1e-5 * expected.model.norm());
    CHECK(tests::difference_of_resumed(*witness, summary, [&](const auto& state) {
            return descent.resume(iterated, state);
          }).empty());
  }
}

TEST_CASE("descent: a nonlinear problem reaches the target without a Jacobian") {
  const tests::CurvedProblem problem;
  for (const auto method : methods) {
    const auto summary =
        Descent(MPI_COMM_SELF, {.method = method}).minimize(problem.objective(), zero_start());
    INFO(summary.brief());
    CHECK(summary.reason == StopReason::target_reached);
    CHECK(summary.rms <= 1.0);
    CHECK(summary.history[summary.history.size() - 2].rms > 1.0);
    CHECK((problem.map->value(summary.model) - summary.predicted).norm() == 0.0);
  }
}

TEST_CASE(
    "descent: lambda falls by its factor where the rms stalls, and the run ends as stagnated after enough of "
    "that") {
  const tests::CurvedProblem problem;
  const Eigen::VectorXd observed = problem.observed + 5.0 * tests::random_matrix(problem.n_data, 1, 9).col(0);
  const inversion::optimize::Objective objective{problem.map, tests::plain_misfit(observed, 0.01),
                                                 tests::line_roughness(problem.n)};
  for (const auto method : methods) {
    const auto summary = Descent(MPI_COMM_SELF, {.method = method, .stop = {.max_iterations = 1000}})
                             .minimize(objective, zero_start());
    INFO(summary.brief());
    CHECK(summary.reason == StopReason::stagnated);
    const auto& history = summary.history;
    for (std::size_t i = 2; i < history.size(); ++i) {
      const bool is_first = i == 2 || history[i - 2].lambda != history[i - 1].lambda;
      const bool stalled =
          !is_first && history[i - 1].rms > (1.0 - DescentOptions().stop.min_rms_drop) * history[i - 2].rms;
      CHECK(history[i].lambda ==
            Approx(stalled ? 0.1 * history[i - 1].lambda : history[i - 1].lambda).epsilon(1e-12));
    }
  }
}

TEST_CASE("descent: a resumed run takes the identical trajectory, bit by bit, redesigned or not") {
  const tests::CurvedProblem problem;
  const auto redesign = [&](const inversion::optimize::RedesignView& view) -> core::MapPtr {
    return core::compose(
        core::affine(Eigen::MatrixXd::Identity(problem.n_data, problem.n_data),
                     Eigen::VectorXd::Constant(problem.n_data, view.iteration % 2 == 0 ? 0.01 : 0.0)),
        problem.map);
  };
  for (const auto method : methods) {
    for (const bool redesigned : {false, true}) {
      const Descent descent(
          MPI_COMM_SELF, {.method = method, .stop = {.max_iterations = 20, .target_rms = 0.6}, .memory = 3});
      inversion::optimize::Hooks hooks;
      if (redesigned) hooks.redesign = redesign;
      const inversion::optimize::Hooks without_witness = hooks;
      const auto witness = std::make_shared<tests::Witness>();
      hooks.directives = {witness};
      const auto expected = descent.minimize(problem.objective(), zero_start(), hooks);
      REQUIRE(witness->states.size() > 5);
      CHECK(tests::difference_of_resumed(*witness, expected, [&](inversion::optimize::InversionState state) {
              return descent.resume(problem.objective(), std::move(state), without_witness);
            }).empty());
    }
  }
}

TEST_CASE(
    "descent: rejected trials shorten the step, a gradient that fails ends the run and keeps the model") {
  const tests::CurvedProblem problem;
  for (const auto method : methods) {
    const auto fake = std::make_shared<tests::FakeMap>(problem.map);
    fake->before_linearize = [](int call) {
      if (call == 2) throw core::SolverError("tests::FakeMap", "zero pivot in row 17");
    };
    const DescentOptions options{.method = method, .stop = {.max_iterations = 3, .target_rms = 0.1}};
    const auto summary = Descent(MPI_COMM_SELF, options).minimize(problem.objective(fake), zero_start());
    REQUIRE(summary.history.size() == 4);
    CHECK(summary.history[1].step == Approx(0.1));
    CHECK(summary.history[1].n_forward == 2);
    fake->n_linearize = 0;
    fake->before_linearize = [](int call) {
      if (call >= 2) throw core::SolverError("tests::FakeMap", "zero pivot in row 17");
    };
    const auto failed = Descent(MPI_COMM_SELF, options).minimize(problem.objective(fake), zero_start());
    CHECK(failed.reason == StopReason::failed);
    CHECK_THAT(failed.message, Contains("zero pivot in row 17"));
    CHECK(failed.model == zero_start());
  }
}

TEST_CASE("L-BFGS: its direction is the Newton step of the quadratic its pairs come from, for any lambda") {
  constexpr Eigen::Index n = 5;
  const Eigen::MatrixXd root = tests::random_matrix(n, n, 3), hessian = root.transpose() * root;
  const Eigen::VectorXd gradient = tests::random_matrix(n, 1, 4).col(0);
  Eigen::MatrixXd memory;
  const Eigen::MatrixXd basis = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(hessian).eigenvectors();
  const inversion::optimize::DescentGradient nothing{Eigen::VectorXd::Zero(n), Eigen::VectorXd::Zero(n)};
  for (Eigen::Index i = 0; i < n; ++i) {
    const Eigen::VectorXd change = basis.col(i);
    memory = inversion::optimize::remember(DescentMethod::lbfgs, memory,
                                           {change, change, nothing, {hessian * change, change}, 0.0}, 8);
  }
  for (const double lambda : {0.0, 3.0}) {
    const Eigen::VectorXd expected =
        -(hessian + lambda * Eigen::MatrixXd::Identity(n, n)).ldlt().solve(gradient);
    const Eigen::VectorXd direction =
        inversion::optimize::descent_direction(DescentMethod::lbfgs, memory, gradient, lambda);
    CHECK((direction - expected).norm() < 1e-10 * expected.norm());
  }
}

TEST_CASE("L-BFGS: old pairs make room, and one without positive curvature is not kept") {
  const Eigen::VectorXd one = Eigen::Vector2d(1.0, 0.0), two = Eigen::Vector2d(0.0, 2.0);
  const inversion::optimize::DescentGradient nothing{Eigen::VectorXd::Zero(2), Eigen::VectorXd::Zero(2)};
  const auto added = [&](const Eigen::MatrixXd& memory, const Eigen::VectorXd& change, double curvature) {
    return inversion::optimize::remember(DescentMethod::lbfgs, memory,
                                         {change, change, nothing, {curvature * change, change}, 0.0}, 1);
  };
  const Eigen::MatrixXd memory = added(added({}, one, 1.0), two, 1.0);
  REQUIRE(memory.cols() == 3);
  CHECK(memory.col(0) == two);
  CHECK(added(memory, one, -1.0) == memory);
}

TEST_CASE("descent: options without sense are refused") {
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(Descent(MPI_COMM_SELF, {.memory = 0})); }),
             tests::HasId("wrong_counts", {"memory", "0"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(Descent(MPI_COMM_SELF, {.lambda_factor = 1.0})); }),
             tests::HasId("wrong_lambda_options", {"lambda_factor", "1"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(Descent(MPI_COMM_SELF, {.stop = {.target_rms = -1.0}})); }),
             tests::HasId("wrong_rms", {"target_rms", "-1"}));
  CHECK_THAT(
      tests::error_of<core::ShapeError>([&] {
        static_cast<void>(
            Descent(MPI_COMM_SELF).minimize(tests::CurvedProblem().objective(), Eigen::VectorXd::Zero(3)));
      }),
      tests::HasId("wrong_model", {"3"}));
}
