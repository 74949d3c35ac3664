// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"
#include "physics/mesh/earth.hpp"
#include "physics/mt/d2/cost.hpp"
#include "physics/mt/d2/mesh_design.hpp"
#include "physics/mt/response_layout.hpp"

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

namespace lodestone::physics::mt::d2 {

/// Costs of one `linearize` and its products, counted by tests and studies.
struct SolveCounts {
  long factorizations = 0;
  long solve_calls = 0;
  long right_hand_sides = 0;
};

/// Resistivities of a section → transfer functions, TE and TM, by finite elements of order 1 or 2 on the
/// given meshes.
///
/// Unknowns: resistivity in ohm m of each grid cell (n_z·n_y). Outputs: responses in the order of `layout`;
/// `data_map` turns them into data.
/// (frequency, mode) pairs are shared between the ranks of `comm` and the threads of each. Every pair has one
/// sequential factorization, and the number of threads does not change a bit. The meshes are fixed: values
/// and derivatives at any x belong to the same discrete problem. A linearization keeps the factors, or where
/// they exceed a limit the Jacobian in their place. errors: InvalidArgument on non-positive
/// resistivities, SolverError with the message of the solver. collective: all members. source: Wannamaker et
/// al. 1987 (2-D FE MT); boundary flux recovery after Carey 1982.
class Simulation final : public core::DifferentiableMap {
 public:
  static constexpr Elements predicted_elements = section_elements;

  /// Makes the simulation of these responses at stations and frequencies to which the keys of the layout and
  /// the meshes refer. errors: InvalidArgument when the earth is no section, a response is none of the
  /// predicted elements, or a frequency has no mesh; ShapeError when a key is outside the lists.
  /// `most_kept_bytes`: of factors that a linearization keeps on a rank.
  Simulation(MPI_Comm comm, mesh::Earth earth, ResponseLayout layout, std::vector<Station> stations,
             std::vector<double> frequencies_hz, MeshSet meshes,
             double most_kept_bytes = most_kept_factor_bytes);
  ~Simulation() override;

  [[nodiscard]] Eigen::Index size_in() const override;
  [[nodiscard]] Eigen::Index size_out() const override;
  [[nodiscard]] std::string name() const override { return "mt::d2::Simulation"; }
  [[nodiscard]] int communicator_id() const override;
  /// Returns the identity of maps that are collective over `comm`.
  [[nodiscard]] static int id_of(MPI_Comm comm);

  [[nodiscard]] const ResponseLayout& layout() const;
  [[nodiscard]] const MeshSet& meshes() const;
  /// Counts of this rank since construction.
  [[nodiscard]] SolveCounts counts() const;
  /// Returns the bytes of this rank's factorizations and of its rows of the Jacobian; an estimate before any
  /// solve.
  [[nodiscard]] double estimated_bytes() const;

  struct Impl;  ///< opaque; defined in simulation_impl.hpp, which is not installed

 private:
  Eigen::VectorXd do_value(const core::ConstVectorRef& x) const override;
  std::unique_ptr<core::Linearization> do_linearize(const core::ConstVectorRef& x) const override;
  std::shared_ptr<const Impl> impl_;
};

/// Makes the simulation of the responses that the data of a survey are made of. errors: InvalidArgument when
/// a datum needs more than a 2-D earth determines, and those of the simulation.
[[nodiscard]] std::shared_ptr<const Simulation> simulation_of(MPI_Comm comm, mesh::Earth earth,
                                                              const Survey& survey, MeshSet meshes);
/// Returns the map from resistivities to the data of a survey. errors: InvalidArgument when the simulation
/// lacks a response that a datum is made of.
[[nodiscard]] core::MapPtr data_map(std::shared_ptr<const Simulation> simulation, const Survey& survey);
/// Makes the simulation as well.
[[nodiscard]] core::MapPtr data_map(MPI_Comm comm, mesh::Earth earth, const Survey& survey, MeshSet meshes);

}  // namespace lodestone::physics::mt::d2
