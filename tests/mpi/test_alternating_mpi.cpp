// SPDX-License-Identifier: Apache-2.0
// Each rank also inverts alone (MPI_COMM_SELF): the shared run must give the numbers of the lonely one.
#include "engine/core/error.hpp"
#include "engine/core/mpi/communicator.hpp"
#include "engine/core/mpi/team.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/inversion/alternating_fixtures.hpp"

using namespace lodestone;
using inversion::optimize::Alternating;
using tests::SectionProblem;

namespace {

bool is_last_rank() { return core::rank_of(MPI_COMM_WORLD) == core::size_of(MPI_COMM_WORLD) - 1; }

/// The decoder of the fixture, which may fail on the last rank alone.
class Failing final : public inversion::prior::Decoder {
 public:
  mutable int n_encoded = 0;
  int bad = 0;  ///< the call of `encode` that fails
  [[nodiscard]] std::string name() const override { return "failing"; }
  [[nodiscard]] Eigen::Index n_codes() const override { return inner_.n_codes(); }
  [[nodiscard]] Eigen::Index n_cells() const override { return inner_.n_cells(); }
  [[nodiscard]] Eigen::MatrixXd decode(const core::ConstMatrixRef& v) const override {
    return inner_.decode(v);
  }
  [[nodiscard]] Eigen::MatrixXd jacobians(const core::ConstMatrixRef& v) const override {
    return inner_.jacobians(v);
  }
  [[nodiscard]] Eigen::MatrixXd encode(const core::ConstMatrixRef& cells) const override {
    if (++n_encoded == bad && is_last_rank())
      throw core::SolverError("tests::Failing", "no codes on the last rank");
    return inner_.encode(cells);
  }

 private:
  tests::ConductorDecoder inner_;
};

}  // namespace

TEST_CASE("alternating: any number of ranks gives the model of one rank, with the same bits on all of them") {
  const SectionProblem problem;
  const inversion::optimize::AlternatingOptions options{.stop = {.max_iterations = 6, .target_rms = 0.5}};
  const auto shared = Alternating(MPI_COMM_WORLD, options, problem.coded())
                          .minimize(problem.objective(), problem.reference());
  const auto alone =
      Alternating(MPI_COMM_SELF, options, problem.coded()).minimize(problem.objective(), problem.reference());
  CHECK((shared.model - alone.model).norm() < 1e-8 * alone.model.norm());
  CHECK(shared.rms == Approx(alone.rms).epsilon(1e-8));
  CHECK(shared.lambda == Approx(alone.lambda).epsilon(1e-8));
  CHECK(shared.reason == alone.reason);
  CHECK(shared.history.size() == alone.history.size());
  CHECK(shared.history.size() > 2);
  Eigen::MatrixXd of_root = shared.model;
  core::Team(MPI_COMM_WORLD).broadcast(of_root);
  CHECK((of_root.array() == shared.model.array()).all());
}

TEST_CASE(
    "alternating: an encoding that fails on one rank is a failed pair on all of them, and smaller lambdas "
    "are tried") {
  const auto decoder = std::make_shared<Failing>();
  const SectionProblem problem(decoder);
  decoder->bad = 1;
  const auto summary =
      Alternating(MPI_COMM_WORLD, {}, problem.coded()).minimize(problem.objective(), problem.reference());
  CHECK(summary.reason == inversion::optimize::StopReason::target_reached);
  Eigen::MatrixXd of_root = summary.model;
  core::Team(MPI_COMM_WORLD).broadcast(of_root);
  CHECK((of_root.array() == summary.model.array()).all());
}
