// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"
#include "physics/linalg/edge_solver.hpp"
#include "physics/mesh/earth.hpp"
#include "physics/mt/d3/mesh_design.hpp"
#include "physics/mt/response_layout.hpp"

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

namespace lodestone::physics::mt::d3 {

/// The way in which the systems of a simulation are solved.
struct SimulationOptions {
  double tolerance = 1e-8;                      ///< residual of fields and products
  double divergence_tolerance = 1e-8;           ///< likewise of the divergence of fields
  double product_divergence_tolerance = 1e-10;  ///< likewise of products, whose sources may be free of it
  linalg::EdgeSolverKind solver = linalg::EdgeSolverKind::automatic;
  double memory_bytes = 4e9;  ///< limit of all direct solvers that live at once, where one may be chosen
};

/// Returns the tolerances of an accuracy. Those of `iteration` leave impedances and tippers within 2e-4, and
/// products within 1e-3, of exact solves.
[[nodiscard]] SimulationOptions solving_options(Accuracy accuracy);

/// Costs of a simulation on this rank since construction, counted by tests and studies.
struct SolveCounts {
  long set_ups = 0;  ///< systems prepared
  long right_hand_sides = 0;
  long iterations = 0;
  long fallbacks = 0;  ///< right-hand sides that a first method did not solve
};

/// Resistivities of a volume → impedances, tippers and inter-station functions. By edge elements: lumped on
/// flat tensor grids, or on hexahedra under a relief or a sea. The resistivity of its water is fixed.
///
/// Unknowns: resistivity in ohm m of each grid cell (n_z·n_y·n_x). Outputs: responses in the order of
/// `layout`; `data_map` turns them into data. Frame: x north, y east, z down; e^{+iωt}. Units of work are
/// (frequency, polarization), shared between the ranks of `comm`; threads share units, or the work inside
/// one. Neither changes a bit on one rank. Meshes and boundary fields are fixed: values and derivatives at
/// any x belong to the same discrete problem. errors: InvalidArgument on non-positive resistivities,
/// SolverError when a system does not converge. collective: all members. source: Yee 1966;
/// docs/decisions/028, 030.
class Simulation final : public core::DifferentiableMap {
 public:
  static constexpr Elements predicted_elements = every_element;

  /// Makes the simulation of these responses at stations and frequencies to which the keys of the layout and
  /// the meshes refer. errors: InvalidArgument when the earth is no volume, or a frequency has no
  /// mesh. Likewise when a mesh is level under a relief or a sea, or a station stands outside it. ShapeError
  /// when a key is outside the lists or the design of the meshes is of another grid.
  Simulation(MPI_Comm comm, mesh::Earth earth, ResponseLayout layout, std::vector<Station> stations,
             std::vector<double> frequencies_hz, MeshSet meshes, const SimulationOptions& options = {});
  ~Simulation() override;

  [[nodiscard]] Eigen::Index size_in() const override;
  [[nodiscard]] Eigen::Index size_out() const override;
  [[nodiscard]] std::string name() const override { return "mt::d3::Simulation"; }
  [[nodiscard]] int communicator_id() const override;

  [[nodiscard]] const ResponseLayout& layout() const;
  [[nodiscard]] const MeshSet& meshes() const;
  [[nodiscard]] SolveCounts counts() const;
  /// Bytes of this rank during a linearization with its products; an estimate.
  [[nodiscard]] double estimated_bytes() const;
  /// Makes the simulation of the same responses on the companion meshes.
  [[nodiscard]] std::shared_ptr<const Simulation> companion() const;
  [[nodiscard]] MPI_Comm comm() const;

  struct Impl;  ///< opaque; defined in simulation_impl.hpp, which is not installed

 private:
  Eigen::VectorXd do_value(const core::ConstVectorRef& x) const override;
  std::unique_ptr<core::Linearization> do_linearize(const core::ConstVectorRef& x) const override;
  std::shared_ptr<const Impl> impl_;
};

/// Makes the simulation of the responses that the data of a survey are made of.
[[nodiscard]] std::shared_ptr<const Simulation> simulation_of(MPI_Comm comm, mesh::Earth earth,
                                                              const Survey& survey, MeshSet meshes,
                                                              const SimulationOptions& options = {});
/// Returns the map from resistivities to the responses in the order of the layout of a simulation: itself, or
/// where its meshes say so, the extrapolation from it and a second simulation on their companions.
[[nodiscard]] core::MapPtr response_map(std::shared_ptr<const Simulation> simulation);
/// Returns the map from resistivities to the data of a survey, by `response_map`. errors: InvalidArgument
/// when the simulation lacks a response that a datum is made of.
[[nodiscard]] core::MapPtr data_map(std::shared_ptr<const Simulation> simulation, const Survey& survey);
/// Makes the simulation as well.
[[nodiscard]] core::MapPtr data_map(MPI_Comm comm, mesh::Earth earth, const Survey& survey, MeshSet meshes,
                                    const SimulationOptions& options = {});

}  // namespace lodestone::physics::mt::d3
