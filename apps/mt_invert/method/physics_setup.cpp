// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/method/physics_setup.hpp"

#include "apps/mt_invert/method/mesh_report.hpp"

#include <algorithm>
#include <string>

namespace lodestone::mt_invert::method {

namespace mt = physics::mt;

namespace {

mt::d2::MeshDesignOptions meshes_at(mt::d2::Accuracy accuracy, const config::ForwardConfig& config) {
  mt::d2::MeshDesignOptions options = mt::d2::design_options(accuracy);
  options.solver = config.solver;
  return options;
}

/// Finer meshes than those of the accuracy may have as many more nodes.
mt::d2::MeshDesignOptions iteration_meshes(const config::ForwardConfig& config) {
  mt::d2::MeshDesignOptions options = meshes_at(config.iteration, config);
  options.coarsen = config.iteration_coarsen;
  const double finer = std::min(1.0, options.coarsen);
  options.max_nodes = static_cast<int>(options.max_nodes / (finer * finer));
  return options;
}

}  // namespace

PhysicsSetup::PhysicsSetup(MPI_Comm comm, const Earth& earth, mt::Survey2D survey, ModelSpace space,
                           const config::ForwardConfig& config)
    : comm_(comm),
      grid_(earth.grid),
      surface_(earth.surface),
      sea_(earth.sea),
      survey_(std::move(survey)),
      space_(std::move(space)),
      config_(config) {}

physics::mesh::Section2D PhysicsSetup::section(const Eigen::VectorXd& log10_resistivity) const {
  return {grid_, Eigen::pow(10.0, log10_resistivity.array()).matrix(), surface_, sea_};
}

std::shared_ptr<const mt::d2::Simulation2D> PhysicsSetup::simulation(
    const Eigen::VectorXd& log10_resistivity, const mt::Survey2D& survey,
    const mt::d2::MeshDesignOptions& meshes) const {
  return std::make_shared<mt::d2::Simulation2D>(
      comm_, grid_, surface_, survey, mt::d2::design_meshes(section(log10_resistivity), survey, meshes));
}

std::shared_ptr<const mt::d2::Simulation2D> PhysicsSetup::simulation_for(
    const Eigen::VectorXd& log10_resistivity, const mt::Survey2D& survey, mt::d2::Accuracy accuracy) const {
  return simulation(log10_resistivity, survey, meshes_at(accuracy, config_));
}

std::shared_ptr<const mt::d2::Simulation2D> PhysicsSetup::simulation_of_iterations(
    const Eigen::VectorXd& log10_resistivity) const {
  return simulation(log10_resistivity, survey_, iteration_meshes(config_));
}

core::MapPtr PhysicsSetup::forward_for(const Eigen::VectorXd& log10_resistivity) const {
  return space_.behind(simulation_of_iterations(log10_resistivity), survey_);
}

mt::d2::Certificate PhysicsSetup::certify(const Eigen::VectorXd& log10_resistivity) const {
  mt::d2::Certificate all;
  all.passed = true;
  const auto add = [&](const char* meshes, mt::d2::Accuracy accuracy,
                       const mt::d2::MeshDesignOptions& options) {
    const auto one =
        mt::d2::certify(comm_, section(log10_resistivity), survey_, options, tolerance_of(accuracy));
    for (mt::d2::CertificateRow row : one.rows) {
      row.check = std::string(meshes) + ": " + row.check;
      all.rows.push_back(std::move(row));
    }
    all.tolerance = one.tolerance;
    all.passed = all.passed && one.passed;
  };
  using enum config::CertificateOf;
  if (config_.certificate == iteration || config_.certificate == both)
    add("iteration meshes", config_.iteration, iteration_meshes(config_));
  if (config_.certificate == final_meshes || config_.certificate == both)
    add("final meshes", config_.final_accuracy, meshes_at(config_.final_accuracy, config_));
  return all;
}

}  // namespace lodestone::mt_invert::method
