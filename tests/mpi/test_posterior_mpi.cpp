// SPDX-License-Identifier: Apache-2.0
// Each rank also computes alone (MPI_COMM_SELF): what is shared must give the numbers of the lonely one.
#include "engine/core/error.hpp"
#include "engine/core/mpi/communicator.hpp"
#include "engine/core/mpi/team.hpp"
#include "inversion/uncertainty/ensemble.hpp"
#include "inversion/uncertainty/posterior.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/inversion/fixtures.hpp"

using namespace lodestone;
using namespace lodestone::inversion;

namespace {

/// More than one block of data and of unknowns, bent.
struct BentProblem {
  static constexpr Eigen::Index n = 300, n_data = 280;
  core::MapPtr map =
      core::compose(core::affine(tests::random_matrix(n_data, n, 1) / 10.0, Eigen::VectorXd::Zero(n_data)),
                    core::pointwise(
                        "bend", n, [](double v) { return v + 0.3 * std::sin(v); },
                        [](double v) { return 1.0 + 0.3 * std::cos(v); }));
  Eigen::VectorXd observed =
      map->value(Eigen::VectorXd::LinSpaced(n, 0.0, 3.0)) + 0.5 * tests::random_matrix(n_data, 1, 2).col(0);
  optimize::Objective objective{map, tests::plain_misfit(observed, 0.5), tests::line_roughness(n)};
  Eigen::VectorXd model = Eigen::VectorXd::LinSpaced(n, 0.1, 2.8);
};

double distance(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) { return (a - b).norm() / b.norm(); }

bool is_that_of_root(const Eigen::MatrixXd& values) {
  Eigen::MatrixXd of_root = values;
  core::Team(MPI_COMM_WORLD).broadcast(of_root);
  return (of_root.array() == values.array()).all();
}

}  // namespace

TEST_CASE("posterior: any number of ranks gives that of one rank, with the same bits on every rank") {
  const BentProblem problem;
  const Eigen::MatrixXd push = tests::random_matrix(270, problem.n, 3);
  const auto pushed = core::affine(push, Eigen::VectorXd::Zero(270))->linearize(problem.model);
  for (const auto space : {optimize::SystemSpace::data, optimize::SystemSpace::model}) {
    const uncertainty::Posterior shared(MPI_COMM_WORLD, problem.objective, problem.model, 5.0, space);
    const uncertainty::Posterior alone(MPI_COMM_SELF, problem.objective, problem.model, 5.0, space);
    CHECK(distance(shared.spread().posterior, alone.spread().posterior) < 1e-8);
    CHECK(distance(shared.spread().prior, alone.spread().prior) < 1e-8);
    CHECK(distance(shared.resolution(), alone.resolution()) < 1e-8);
    CHECK(distance(shared.spread_of(*pushed).posterior, alone.spread_of(*pushed).posterior) < 1e-8);
    CHECK(distance(shared.covariance_columns({7}), alone.covariance_columns({7})) < 1e-8);
    const Eigen::MatrixXd draws = shared.samples(3, 0, 3);
    CHECK(distance(draws, alone.samples(3, 0, 3)) < 1e-8);
    CHECK(is_that_of_root(shared.spread().posterior));
    CHECK(is_that_of_root(shared.resolution()));
    CHECK(is_that_of_root(draws));
  }
}

TEST_CASE(
    "randomize-then-optimize: any number of ranks gives the samples of one rank, with the same bits on every "
    "rank") {
  const BentProblem problem;
  const uncertainty::EnsembleOptions options{.n_samples = 3, .max_iterations = 3};
  const uncertainty::Ensemble shared =
      uncertainty::randomize_then_optimize(MPI_COMM_WORLD, problem.objective, problem.model, 5.0, options);
  const uncertainty::Ensemble alone =
      uncertainty::randomize_then_optimize(MPI_COMM_SELF, problem.objective, problem.model, 5.0, options);
  REQUIRE(shared.models.cols() == 3);
  CHECK(shared.records[0].n_iterations > 1);
  CHECK(distance(shared.models, alone.models) < 1e-8);
  CHECK(is_that_of_root(shared.models));
}

TEST_CASE(
    "randomize-then-optimize: a sample that fails on one rank fails on all of them, a stop on one stops "
    "all") {
  const BentProblem problem;
  const auto fake = std::make_shared<tests::FakeMap>(problem.map);
  const bool last = core::rank_of(MPI_COMM_WORLD) == core::size_of(MPI_COMM_WORLD) - 1;
  fake->spoil_value = [last](Eigen::VectorXd&, int call) {
    if (last && call >= 2 && call <= 7)
      throw core::SolverError("tests::FakeMap", "no memory on the last rank");
  };
  optimize::Objective objective = problem.objective;
  objective.forward = fake;
  int n_asked = 0;
  const uncertainty::Ensemble ensemble = uncertainty::randomize_then_optimize(
      MPI_COMM_WORLD, objective, problem.model, 5.0, {.n_samples = 5},
      {.stop = [&]() -> std::optional<optimize::StopReason> {
        return ++n_asked == 3 && last ? std::optional(optimize::StopReason::interrupted) : std::nullopt;
      }});
  CHECK(ensemble.n_failed() == 1);
  CHECK(ensemble.records.size() == 2);
  CHECK(ensemble.stopped == optimize::StopReason::interrupted);
  CHECK(is_that_of_root(ensemble.models));
}

TEST_CASE("posterior: a linearization that fails on one rank throws its error, with its id, on all of them") {
  const BentProblem problem;
  const auto fake = std::make_shared<tests::FakeMap>(problem.map);
  const bool last = core::rank_of(MPI_COMM_WORLD) == core::size_of(MPI_COMM_WORLD) - 1;
  fake->before_linearize = [last](int) {
    if (last) throw core::SolverError("tests::FakeMap#zero_pivot", "zero pivot in row {}", 17);
  };
  optimize::Objective objective = problem.objective;
  objective.forward = fake;
  CHECK_THAT(tests::error_of<core::SolverError>([&] {
               const uncertainty::Posterior posterior(MPI_COMM_WORLD, objective, problem.model, 5.0,
                                                      optimize::SystemSpace::data);
             }),
             tests::HasId("zero_pivot", {"17"}));
}
