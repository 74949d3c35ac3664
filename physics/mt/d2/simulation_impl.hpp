// SPDX-License-Identifier: Apache-2.0
// Private to physics/mt: the parts of Simulation shared by its value and its linearization.
#pragma once

#include "physics/linalg/symmetric_solver.hpp"
#include "physics/mt/d2/cell_averages.hpp"
#include "physics/mt/d2/mode_operator.hpp"
#include "physics/mt/d2/receivers.hpp"
#include "physics/mt/d2/simulation.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <memory>

namespace lodestone::physics::mt::d2 {

/// One mode on one mesh: everything that does not depend on frequency or resistivity. Built on the ranks that
/// solve it.
struct ModeProblem {
  ModeProblem(Mode mode, const BandMesh& band, SystemSolver solver, const std::vector<Station>& stations);
  ModeOperator problem;
  std::unique_ptr<linalg::SymmetricSolver> solver;
  std::vector<Receiver> receivers;  ///< per station
};

/// One (frequency, mode): the unit of work of a rank.
struct Job {
  int band = 0, frequency = 0;
  Mode mode = Mode::te;
  int owner = 0;
  std::vector<int> responses;  ///< keys of the layout, in its order
};

/// A job solved at one model.
struct SolvedJob {
  const Job* job = nullptr;
  Eigen::MatrixXd properties;
  std::unique_ptr<linalg::Factorization> factors;
  Eigen::VectorXcd field;
  std::vector<TransferDerivative> transfers;  ///< per response of the job
};

/// As SolveCounts, counted by several threads.
struct SharedCounts {
  std::atomic<long> factorizations = 0, solve_calls = 0, right_hand_sides = 0;
};

struct Simulation::Impl {
  MPI_Comm comm = MPI_COMM_SELF;
  int rank = 0;
  mesh::Earth earth;
  ResponseLayout layout;
  std::vector<Station> stations;
  std::vector<double> frequencies_hz;
  MeshSet meshes;
  double most_kept_bytes = 0.0;  ///< limit of the factors in a linearization of this rank
  std::vector<Job> jobs;
  std::vector<const Job*> own_jobs;                    ///< those of this rank, the most expensive first
  std::vector<std::pair<int, int>> place_of_response;  ///< (job, index into its responses) of each key
  std::vector<int> owner_of_output;
  std::map<int, std::unique_ptr<const CellAverages>> averages;  ///< by band
  std::map<std::pair<int, Mode>, std::unique_ptr<const ModeProblem>> problems;
  mutable SharedCounts counts;

  Impl(MPI_Comm comm, mesh::Earth earth, ResponseLayout layout, std::vector<Station> stations,
       std::vector<double> frequencies_hz, MeshSet meshes, double most_kept_bytes);
  [[nodiscard]] double omega_of(const Job& job) const;
  [[nodiscard]] const ModeProblem& problem_of(const Job& job) const {
    return *problems.at({job.band, job.mode});
  }
  [[nodiscard]] const CellAverages& averages_of(const Job& job) const { return *averages.at(job.band); }
  /// Gets the solved job `own_jobs[i]`; several threads call it at a time.
  using TakeSolved = std::function<void(std::ptrdiff_t i, SolvedJob&& solved)>;
  /// Returns the outputs at a model, on every rank; the solved `own_jobs` go to `take` unless it is empty.
  /// errors: SolverError, the same on every rank. collective.
  [[nodiscard]] Eigen::VectorXd respond(const Eigen::VectorXd& resistivity, const TakeSolved& take) const;
  /// Solves with the factors of a job and counts it.
  [[nodiscard]] Eigen::MatrixXcd solve_with(const SolvedJob& solved,
                                            const Eigen::MatrixXcd& right_hand_sides) const;
  /// Solves for adjoint fields with one source per row. shapes: (k, n_unknowns) → (k, n_unknowns).
  [[nodiscard]] Eigen::MatrixXcd adjoints_with(const SolvedJob& solved, Eigen::MatrixXcd sources) const;
  /// Returns the estimated bytes of the factors of this rank's jobs.
  [[nodiscard]] double estimated_factor_bytes() const;
  [[nodiscard]] bool keeps_factors() const { return estimated_factor_bytes() <= most_kept_bytes; }

 private:
  [[nodiscard]] double estimated_entries(const ModeOperator& problem) const;
  void count(const SolvedJob& solved, Eigen::Index n_right_hand_sides) const;
  /// Checks the layout. errors: those of the constructor of the simulation.
  void check_layout() const;
  void make_jobs();
  void share_jobs();
  void make_problems();
  [[nodiscard]] SolvedJob solve(const Job& job, const Eigen::VectorXd& resistivity) const;
  /// Writes the outputs of a solved job into their rows.
  void write_outputs(const SolvedJob& solved, Eigen::MatrixXd& outputs) const;
};

[[nodiscard]] std::unique_ptr<core::Linearization> linearization_of(
    std::shared_ptr<const Simulation::Impl> impl, const Eigen::VectorXd& resistivity);

}  // namespace lodestone::physics::mt::d2
