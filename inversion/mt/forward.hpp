// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/problem.hpp"
#include "physics/mt/certificate.hpp"
#include "physics/mt/d2/simulation.hpp"
#include "physics/mt/d3/simulation.hpp"
#include "physics/mt/distortion.hpp"
#include "physics/mt/observations.hpp"

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lodestone::inversion::mt {

/// The meshes whose errors are measured at the end of a run.
enum class CertificateOf : std::uint8_t { none, iteration, final_meshes, both };
constexpr auto words(CertificateOf) {
  using enum CertificateOf;
  return core::Words<CertificateOf>{
      {none, "none"}, {iteration, "iteration"}, {final_meshes, "final"}, {both, "both"}};
}

/// Nodes of a mesh that final responses of sections may have, twice those of the rules.
inline constexpr int usual_max_nodes = 240'000;
/// Work that the check of final responses of sections may take, in final runs without it.
inline constexpr double usual_check_runs = 6.0;

/// The source of the meshes of the iterations.
enum class IterationMeshes : std::uint8_t {
  designed,  ///< the rules of an accuracy
  cells      ///< the grid of the model; of volumes alone
};
constexpr auto words(IterationMeshes) {
  return core::Words<IterationMeshes>{{IterationMeshes::designed, "designed"},
                                      {IterationMeshes::cells, "cells"}};
}

/// The meshes of a run and the rule by which they follow the model.
struct ForwardOptions {
  physics::mt::Accuracy iteration = physics::mt::Accuracy::iteration,
                        final_accuracy = physics::mt::Accuracy::standard;
  IterationMeshes iteration_meshes = IterationMeshes::designed;
  double iteration_coarsen = 1.0;  ///< cell sizes of the iterations' meshes over those of that accuracy
  /// Absent: `each_iteration` for sections, `as_rms_falls` for volumes, whose meshes follow the cells.
  std::optional<Redesigning> redesign{};
  double near_target = 1.5;  ///< rms over the target below which until_near_target keeps the meshes
  /// Nodes up to which the meshes of the final responses are refined where these miss the accuracy by an
  /// estimate; 0: none is made. Absent: `usual_max_nodes` for sections, 0 for volumes, which have no other.
  std::optional<int> max_nodes{};
  /// Work of the estimate and its refinements, in final runs without them. Absent: `usual_check_runs`.
  std::optional<double> max_check_runs{};
  CertificateOf certificate = CertificateOf::both;
  physics::mt::d2::SystemSolver solver = physics::mt::d2::SystemSolver::lines;  ///< solves sections
  physics::linalg::EdgeSolverKind edge_solver = physics::linalg::EdgeSolverKind::automatic;  ///< volumes
};

/// The simulations of sections.
struct Sections {
  using Simulation = physics::mt::d2::Simulation;
  using MeshSet = physics::mt::d2::MeshSet;
  using MeshDesign = physics::mt::d2::MeshDesignOptions;
};

/// The simulations of volumes.
struct Volumes {
  using Simulation = physics::mt::d3::Simulation;
  using MeshSet = physics::mt::d3::MeshSet;
  using MeshDesign = physics::mt::d3::MeshDesignOptions;
};

/// Makes the simulations of a run, `Sections` or `Volumes`, on meshes designed for a model, log10 of ohm m in
/// all cells.
template <class Dimension>
class Simulations : public std::enable_shared_from_this<Simulations<Dimension>> {
 public:
  using Ptr = std::shared_ptr<const typename Dimension::Simulation>;
  /// Keeps what it is given. errors: InvalidArgument for meshes of cells with a section, other sizes or
  /// another accuracy.
  Simulations(MPI_Comm comm, physics::mesh::Earth earth, ForwardOptions options);

  /// Makes the simulation of a survey at the accuracy of the iterations.
  [[nodiscard]] Ptr of_iterations(const Eigen::VectorXd& model, const physics::mt::Survey& survey) const;
  /// Makes the simulation of a survey at the final accuracy.
  [[nodiscard]] Ptr of_results(const Eigen::VectorXd& model, const physics::mt::Survey& survey) const;
  /// Makes the map to the responses that the data of a survey are made of, at the final accuracy. It refines
  /// the meshes of a section as the options say, and logs what that found. A shared pointer owns this.
  [[nodiscard]] core::MapPtr final_responses(const Eigen::VectorXd& model,
                                             const physics::mt::Survey& survey) const;
  /// Returns the meshes of `of_iterations`.
  [[nodiscard]] typename Dimension::MeshSet meshes_of_iterations(const Eigen::VectorXd& model,
                                                                 const physics::mt::Survey& survey) const;
  /// Returns the meshes of `of_results`, or those of the last `final_responses` if these were of the same
  /// model. `survey`: with the stations and frequencies of that.
  [[nodiscard]] typename Dimension::MeshSet meshes_of_results(const Eigen::VectorXd& model,
                                                              const physics::mt::Survey& survey) const;
  /// Returns true if `final_responses` estimates errors and refines.
  [[nodiscard]] bool checks_results() const;
  /// Adds what the last `final_responses` found, if they were of the same model and checked.
  void add_check(const Eigen::VectorXd& model, physics::mt::Certificate& certificate) const;
  [[nodiscard]] physics::mesh::Model earth_model(const Eigen::VectorXd& model) const;
  /// Returns the rules of the meshes of `of_iterations` and of `of_results`.
  [[nodiscard]] typename Dimension::MeshDesign design_of_iterations() const;
  [[nodiscard]] typename Dimension::MeshDesign design_of_results() const;

  [[nodiscard]] const physics::mesh::Earth& earth() const { return earth_; }
  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] const ForwardOptions& options() const { return options_; }

 private:
  /// The last model whose responses were checked, and the meshes that this gave.
  struct Checked {
    Eigen::VectorXd model;
    typename Dimension::MeshSet meshes;
    physics::mt::CertificateRow row;
    std::string note;
  };
  [[nodiscard]] const Checked* checked(const Eigen::VectorXd& model) const;

  MPI_Comm comm_;
  physics::mesh::Earth earth_;
  ForwardOptions options_;
  mutable std::optional<Checked> checked_{};
};

/// Returns the forward side of a problem: used data for the iterations, all that a simulation predicts for
/// the results. `distortion`: its numbers are among the unknowns.
template <class Dimension>
[[nodiscard]] Forward forward(std::shared_ptr<const Simulations<Dimension>> simulations,
                              const physics::mt::Observations& data,
                              const physics::mt::DistortionUnknowns& distortion = {});

/// Returns what to set so that the iterations see the responses of the final meshes.
[[nodiscard]] std::string way_to_agree(const ForwardOptions& options);

}  // namespace lodestone::inversion::mt
