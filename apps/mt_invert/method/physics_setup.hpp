// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/config/config.hpp"
#include "apps/mt_invert/method/earth.hpp"
#include "apps/mt_invert/method/model_space.hpp"
#include "physics/mt/d2/certificate.hpp"
#include "physics/mt/d2/simulation.hpp"

#include <mpi.h>

#include <memory>

namespace lodestone::mt_invert::method {

/// Makes the forward maps of a run: meshes designed for a model, simulation, parameter map.
class PhysicsSetup {
 public:
  PhysicsSetup(MPI_Comm comm, const Earth& earth, physics::mt::Survey2D survey, ModelSpace space,
               const config::ForwardConfig& config);

  /// On meshes designed for this model (log10 resistivity) at the accuracy of iterations.
  [[nodiscard]] core::MapPtr forward_for(const Eigen::VectorXd& log10_resistivity) const;
  /// The simulation alone.
  [[nodiscard]] std::shared_ptr<const physics::mt::d2::Simulation2D> simulation_of_iterations(
      const Eigen::VectorXd& log10_resistivity) const;
  /// The same of any survey and accuracy.
  [[nodiscard]] std::shared_ptr<const physics::mt::d2::Simulation2D> simulation_for(
      const Eigen::VectorXd& log10_resistivity, const physics::mt::Survey2D& survey,
      physics::mt::d2::Accuracy accuracy) const;
  [[nodiscard]] physics::mesh::Section2D section(const Eigen::VectorXd& log10_resistivity) const;
  /// Certificates asked for in the configuration, of the final model, in one table. collective.
  [[nodiscard]] physics::mt::d2::Certificate certify(const Eigen::VectorXd& log10_resistivity) const;

  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] const ModelSpace& space() const { return space_; }
  [[nodiscard]] const physics::mt::Survey2D& survey() const { return survey_; }

 private:
  [[nodiscard]] std::shared_ptr<const physics::mt::d2::Simulation2D> simulation(
      const Eigen::VectorXd& log10_resistivity, const physics::mt::Survey2D& survey,
      const physics::mt::d2::MeshDesignOptions& meshes) const;

  MPI_Comm comm_;
  physics::mesh::TensorGrid2D grid_;
  physics::mesh::Surface2D surface_;
  std::optional<physics::mesh::Sea> sea_;
  physics::mt::Survey2D survey_;  ///< of the kept data
  ModelSpace space_;
  config::ForwardConfig config_;
};

}  // namespace lodestone::mt_invert::method
