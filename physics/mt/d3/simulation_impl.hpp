// SPDX-License-Identifier: Apache-2.0
// Private to physics/mt: the parts of Simulation shared by its value and its linearization.
#pragma once

#include "physics/mt/d3/receivers.hpp"
#include "physics/mt/d3/relief.hpp"
#include "physics/mt/d3/simulation.hpp"
#include "physics/mt/d3/transfer_functions.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>

namespace lodestone::physics::mt::d3 {

/// The parts of a band that depend on neither frequency nor model, on the ranks that solve on its mesh.
struct BandProblem {
  BandProblem(const mesh::Earth& earth, const BandMesh& band, const std::vector<Station>& stations,
              const Eigen::VectorXd& design_resistivity);
  std::shared_ptr<const fem::EdgeGrid> grid;
  int ground;
  EdgeAverages averages;
  /// Under a relief: its operator and the averages over its cells, else nothing. Edges have no masses of
  /// their own there, and no layered field.
  std::shared_ptr<const fem::ReliefOperator> relief;
  std::optional<CellAverages> cell_averages;
  Eigen::VectorXd layered_resistivity;  ///< one per parameter cell
  Eigen::VectorXd layered_masses;       ///< one per edge
  std::vector<Receiver> receivers;      ///< per station

  /// Returns the derivative of the masses of edges, or of the conductivities of cells under a relief.
  [[nodiscard]] core::SparseRows derivative(const Eigen::VectorXd& resistivity) const;
  /// Returns δM u for a change of these.
  [[nodiscard]] Eigen::VectorXcd mass_change_times(const Eigen::VectorXd& change,
                                                   const Eigen::VectorXcd& circulation) const;
  /// Returns the derivative of uᵀ M v with respect to each of these.
  [[nodiscard]] Eigen::VectorXcd mass_products(const Eigen::VectorXcd& u, const Eigen::VectorXcd& v) const;
};

/// The averages of one model on a band; no masses under a relief.
struct BandModel {
  Eigen::VectorXd masses, cell_conductivities;
};

/// One (frequency, polarization): the unit of work of a rank.
struct Unit {
  int band = 0, frequency = 0;
  Polarization polarization = Polarization::x;
  int owner = 0;
  /// Fixed fields, on the owner: of layers, and on the boundary beyond it with its source −K w inside. None
  /// of layers under a relief.
  Eigen::VectorXcd layered{}, boundary{}, boundary_source{};
};

/// The units of one frequency that a rank owns: they share a system.
struct Job {
  int band = 0, frequency = 0;
  std::vector<int> units;
};

/// Total circulations of the units of a job at one model.
struct SolvedJob {
  const Job* job = nullptr;
  std::vector<Eigen::VectorXcd> circulations;
};

/// As SolveCounts, counted by several threads.
struct SharedCounts {
  std::atomic<long> set_ups = 0, right_hand_sides = 0, iterations = 0, fallbacks = 0;
};

struct Simulation::Impl {
  MPI_Comm comm = MPI_COMM_SELF;
  int rank = 0;
  mesh::Earth earth;
  ResponseLayout layout;
  std::vector<Station> stations;
  std::vector<int> references;  ///< station to which inter-station functions refer; −1: none
  std::vector<double> frequencies_hz;
  MeshSet meshes;
  SimulationOptions options;
  std::vector<Unit> units;
  std::vector<Job> own_jobs;  ///< the most expensive first
  std::map<int, std::unique_ptr<const BandProblem>> bands;
  mutable SharedCounts counts;
  mutable std::vector<std::atomic<bool>> warned;  ///< per frequency, of a fallback

  Impl(MPI_Comm comm, mesh::Earth earth, ResponseLayout layout, std::vector<Station> stations,
       std::vector<double> frequencies_hz, MeshSet meshes, const SimulationOptions& options);
  [[nodiscard]] double omega_of(int frequency) const;
  [[nodiscard]] const BandProblem& band_of(const Job& job) const { return *bands.at(job.band); }
  /// Masses of the bands of this rank.
  [[nodiscard]] std::map<int, BandModel> band_models(const Eigen::VectorXd& resistivity) const;
  /// Returns the solver that a job takes: that of the options, or the cheapest.
  [[nodiscard]] linalg::EdgeSolverKind solver_kind(const Job& job, Eigen::Index n_right_hand_sides) const;
  [[nodiscard]] std::unique_ptr<linalg::EdgeSolver> solver_of(const Job& job, const BandModel& model,
                                                              Eigen::Index n_right_hand_sides) const;
  /// Solves and counts; errors name the frequency.
  [[nodiscard]] linalg::PairBlock solve(const Job& job, const linalg::EdgeSolver& solver,
                                        const linalg::PairBlock& sources, double divergence_tolerance) const;
  /// Logs the methods that a solve went on with: once per frequency as a warning. Double precision is usual
  /// where contrasts are large, and no warning.
  void log_fallback(const Job& job, const std::string& solver, const linalg::EdgeSolveReport& report) const;
  /// Returns how many jobs of this rank run at the same time.
  [[nodiscard]] int n_jobs_at_once() const;
  /// Calls work(i) for the jobs of this rank: in threads where there is one for each, else one after the
  /// other with threads inside. An error becomes that of all ranks. collective.
  void for_each_job(const std::function<void(std::size_t)>& work) const;
  /// Fields at all stations, on every rank; the solved `own_jobs` go to `solved` unless it is null. errors:
  /// SolverError, the same on every rank. collective.
  [[nodiscard]] FieldTable fields(const std::map<int, BandModel>& models,
                                  std::vector<SolvedJob>* solved) const;
  /// Returns those of one frequency and station.
  [[nodiscard]] StationFields fields_at(const FieldTable& table, int frequency, int station) const;
  /// Returns the station whose horizontal magnetic fields a response is divided by.
  [[nodiscard]] int reference_of(const ResponseKey& key) const {
    return is_interstation(key.element) ? references[key.station] : key.station;
  }
  /// Returns the transfer functions between the two stations of a response.
  [[nodiscard]] TransferFunctions transfer_functions(const FieldTable& table, const ResponseKey& key) const;
  /// Shares the rows that units wrote into a table; one row per unit, station and channel. collective.
  void share(Eigen::MatrixXcd& table) const;
  /// Returns the row of a field in such tables.
  [[nodiscard]] Eigen::Index row_of(int unit, int station, Channel channel) const {
    return (static_cast<Eigen::Index>(unit) * std::ssize(stations) + station) * n_channels +
           static_cast<int>(channel);
  }
  /// Returns the unit of a frequency and polarization.
  [[nodiscard]] int unit_of(int frequency, Polarization polarization) const;
  [[nodiscard]] Eigen::VectorXd outputs(const FieldTable& fields) const;

 private:
  void check() const;
  void make_units();
  void share_units();
  void make_bands();
  void make_boundaries();
  [[nodiscard]] SolvedJob solve_fields(const Job& job, const BandModel& model) const;
  std::vector<int> first_unit_;  ///< one per frequency, −1 where it has none
};

[[nodiscard]] std::unique_ptr<core::Linearization> linearization_of(
    std::shared_ptr<const Simulation::Impl> impl, const Eigen::VectorXd& resistivity);

}  // namespace lodestone::physics::mt::d3
