// SPDX-License-Identifier: Apache-2.0
// A target that the data do not allow is raised, and the run smooths the model there.
#include "inversion/optimize/gauss_newton.hpp"
#include "inversion/optimize/target.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/inversion/fixtures.hpp"

#include <algorithm>

using namespace lodestone;
using Catch::Matchers::Contains;
using inversion::optimize::GaussNewton;
using inversion::optimize::GaussNewtonOptions;
using inversion::optimize::IterationRecord;
using inversion::optimize::Occam;
using inversion::optimize::raised_target;
using inversion::optimize::StopReason;

namespace {

/// Returns a history in which every row starts at the rms of the row before.
std::vector<IterationRecord> history_of(std::initializer_list<double> rms) {
  std::vector<IterationRecord> rows;
  for (const double each : rms)
    rows.push_back({.iteration = static_cast<int>(rows.size()),
                    .rms = each,
                    .rms_at_start = rows.empty() ? each : rows.back().rms});
  return rows;
}

/// A problem with more data than unknowns, whose noise is five times as large as its errors say.
struct NoisyProblem : tests::CurvedProblem {
  [[nodiscard]] inversion::optimize::Objective noisy() const {
    const Eigen::VectorXd noise = 5.0 * tests::random_matrix(n_data, 1, 9).col(0);
    return {map, tests::plain_misfit(observed + noise, 0.01), tests::line_roughness(n)};
  }
};

GaussNewtonOptions raising() {
  return {.stop = {.max_iterations = 40}, .lambda = Occam{.raise_target = true}};
}

}  // namespace

TEST_CASE(
    "target: it is raised to 1.05 times the least rms where two iterations lower the rms by less than 5 %") {
  CHECK_FALSE(raised_target(1.0, history_of({9.0})));
  CHECK_FALSE(raised_target(1.0, history_of({9.0, 4.0, 2.0, 1.89})));
  CHECK_FALSE(raised_target(1.0, history_of({9.0, 8.9, 2.0, 1.92})));  // a start may need one to smooth it
  const auto raised = raised_target(1.0, history_of({9.0, 4.0, 2.0, 1.92, 1.95, 1.9}));
  REQUIRE(raised);
  CHECK(raised->rms == Approx(1.05 * 1.92));
  CHECK(raised->after == 4);
}

TEST_CASE("target: a model that reached it rules out a higher one, also where the rms rises again") {
  CHECK_FALSE(raised_target(1.0, history_of({9.0, 2.0, 0.99, 1.3, 1.29})));
  CHECK(raised_target(0.9, history_of({9.0, 2.0, 0.99, 1.3, 1.29})));
}

TEST_CASE("target: the fall of an iteration is that on its own map") {
  auto rows = history_of({9.0, 2.0, 1.95, 1.93});
  REQUIRE(raised_target(1.0, rows));
  rows.back().rms_at_start = 2.5;  // the map was redesigned
  CHECK_FALSE(raised_target(1.0, rows));
}

TEST_CASE("target: a run whose data do not allow it ends smoother than the one that seeks the least rms") {
  const NoisyProblem problem;
  const Eigen::VectorXd start = Eigen::VectorXd::Zero(problem.n);
  const auto least =
      GaussNewton(MPI_COMM_SELF, {.stop = {.max_iterations = 40}}).minimize(problem.noisy(), start);
  REQUIRE(least.reason == StopReason::stagnated);
  const auto raised = GaussNewton(MPI_COMM_SELF, raising()).minimize(problem.noisy(), start);
  CHECK(raised.reason == StopReason::target_reached);
  CHECK(raised.target_rms > 1.0);
  CHECK(raised.rms <= raised.target_rms);
  CHECK(raised.target_rms < 1.12 * least.rms);
  CHECK(raised.roughness < least.roughness);
}

TEST_CASE("target: a run that reaches its target keeps it") {
  const tests::CurvedProblem problem;
  const Eigen::VectorXd start = Eigen::VectorXd::Zero(problem.n);
  const auto plain = GaussNewton(MPI_COMM_SELF).minimize(problem.objective(), start);
  const auto raised = GaussNewton(MPI_COMM_SELF, raising()).minimize(problem.objective(), start);
  REQUIRE(plain.reason == StopReason::target_reached);
  CHECK(raised.reason == StopReason::target_reached);
  CHECK(raised.target_rms == 1.0);
}

TEST_CASE("target: a resumed run raises it alike") {
  const NoisyProblem problem;
  const Eigen::VectorXd start = Eigen::VectorXd::Zero(problem.n);
  const auto witness = std::make_shared<tests::Witness>();
  const auto whole =
      GaussNewton(MPI_COMM_SELF, raising()).minimize(problem.noisy(), start, {.directives = {witness}});
  REQUIRE(witness->states.size() > 3);
  for (std::size_t i = 1; i < witness->states.size(); ++i) {
    CAPTURE(i);
    const auto resumed = GaussNewton(MPI_COMM_SELF, raising()).resume(problem.noisy(), witness->states[i]);
    CHECK(resumed.target_rms == whole.target_rms);
    CHECK((resumed.model - whole.model).norm() == 0.0);
  }
}
