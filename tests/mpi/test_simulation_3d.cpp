// SPDX-License-Identifier: Apache-2.0
#include "engine/core/mpi/communicator.hpp"
#include "physics/mt/d3/extrapolation.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/small_volume.hpp"

using namespace lodestone;

namespace {

double gap(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return (a - b).cwiseAbs().maxCoeff() / b.cwiseAbs().maxCoeff();
}

}  // namespace

TEST_CASE("3-D simulation: values and derivatives do not depend on the number of ranks", "[physics][mt]") {
  const auto together = tests::small_volume_simulation(MPI_COMM_WORLD),
             alone = tests::small_volume_simulation(MPI_COMM_SELF);
  const Eigen::VectorXd x = tests::small_volume().values;
  CHECK(gap(together->value(x), alone->value(x)) < 1e-9);
  const auto ours = together->linearize(x), reference = alone->linearize(x);
  const Eigen::MatrixXd v = Eigen::MatrixXd::Constant(together->size_in(), 2, 0.3),
                        w = Eigen::MatrixXd::Constant(together->size_out(), 3, 0.7);
  CHECK(gap(ours->jvp(v), reference->jvp(v)) < 1e-7);
  CHECK(gap(ours->vjp(w), reference->vjp(w)) < 1e-7);
  CHECK(gap(ours->jacobian(), reference->jacobian()) < 1e-7);
}

TEST_CASE("3-D simulation: rows of a Jacobian are held by at least one rank, with the bits of the whole",
          "[physics][mt]") {
  const auto linearization =
      tests::small_volume_simulation(MPI_COMM_WORLD)->linearize(tests::small_volume().values);
  const auto block = linearization->local_jacobian();
  Eigen::VectorXd held = Eigen::VectorXd::Zero(linearization->size_out());
  held(block.rows).setOnes();
  core::sum_in_rank_order(MPI_COMM_WORLD, held);
  CHECK(held.minCoeff() >= 1.0);
  CHECK(block.values == linearization->jacobian()(block.rows, Eigen::all));
}

TEST_CASE("3-D extrapolation: values and rows of Jacobians do not depend on the number of ranks",
          "[physics][mt]") {
  const auto extrapolated = [](MPI_Comm comm) {
    const auto fine = tests::small_volume_simulation(comm);
    return physics::mt::d3::extrapolated(comm, fine, fine->companion())
        ->linearize(tests::small_volume().values);
  };
  const auto together = extrapolated(MPI_COMM_WORLD), alone = extrapolated(MPI_COMM_SELF);
  CHECK(gap(together->value(), alone->value()) < 1e-9);
  const auto block = together->local_jacobian();
  CHECK(gap(block.values, alone->jacobian()(block.rows, Eigen::all)) < 1e-7);
  Eigen::VectorXd held = Eigen::VectorXd::Zero(together->size_out());
  held(block.rows).setOnes();
  core::sum_in_rank_order(MPI_COMM_WORLD, held);
  CHECK(held.minCoeff() >= 1.0);
}

TEST_CASE("3-D simulation: an error on one rank is the same error on every rank", "[physics][mt]") {
  const auto simulation = tests::small_volume_simulation(MPI_COMM_WORLD, {.tolerance = 1e-30});
  CHECK_THROWS_AS(simulation->value(tests::small_volume().values), core::SolverError);
}
