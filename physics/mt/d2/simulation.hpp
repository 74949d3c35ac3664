// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"
#include "physics/mesh/earth.hpp"
#include "physics/mt/d2/mesh_design.hpp"
#include "physics/mt/survey.hpp"

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

namespace lodestone::physics::mt::d2 {

/// What one `linearize` and its products cost; a test counts them, the report prints them.
struct SolveCounts {
  long factorizations = 0;
  long solve_calls = 0;
  long right_hand_sides = 0;
};

/// Resistivities of a section → transfer functions of a survey, TE and TM, by finite elements of order 1 or 2
/// on the given meshes.
///
/// Unknowns: resistivity in ohm m of each grid cell (n_z·n_y). Outputs: one per key of the survey.
/// (frequency, mode) pairs are shared between the ranks of `comm` and the threads of each; every pair has one
/// sequential factorization, and the number of threads does not change a bit. The meshes are fixed: values
/// and derivatives at any x belong to the same discrete problem. errors: InvalidArgument on non-positive
/// resistivities, SolverError with the message of the solver. collective: all members. source: Wannamaker et
/// al. 1987 (2-D FE MT); boundary flux recovery after Carey 1982.
class Simulation final : public core::DifferentiableMap {
 public:
  /// Makes the simulation of a section. errors: InvalidArgument when the earth is none or a datum needs more
  /// than a 2-D earth determines.
  Simulation(MPI_Comm comm, mesh::Earth earth, Survey survey, MeshSet meshes);
  ~Simulation() override;

  [[nodiscard]] Eigen::Index size_in() const override;
  [[nodiscard]] Eigen::Index size_out() const override;
  [[nodiscard]] std::string name() const override { return "mt::d2::Simulation"; }
  [[nodiscard]] int communicator_id() const override;

  [[nodiscard]] const Survey& survey() const;
  [[nodiscard]] const MeshSet& meshes() const;
  /// Counts of this rank since construction.
  [[nodiscard]] SolveCounts counts() const;
  /// Bytes of this rank's factorizations and of its rows of the Jacobian; an estimate before any solve.
  [[nodiscard]] double estimated_bytes() const;

  struct Impl;  ///< opaque; defined in simulation_2d_impl.hpp, which is not installed

 private:
  Eigen::VectorXd do_value(const core::ConstVectorRef& x) const override;
  std::unique_ptr<core::Linearization> do_linearize(const core::ConstVectorRef& x) const override;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace lodestone::physics::mt::d2
