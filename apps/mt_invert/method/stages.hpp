// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/method/physics_setup.hpp"
#include "inversion/optimize/optimizer.hpp"
#include "inversion/optimize/staged_history.hpp"

#include <optional>
#include <string>

namespace lodestone::mt_invert::method {

/// One minimization of a run: over which unknowns, from where, and toward what.
struct Stage {
  std::string name;  ///< "cells"; with a learned prior "features", and "polish" behind them
  Earth earth;       ///< with the start and reference models of this stage
  PhysicsSetup physics;
  Eigen::VectorXd start;  ///< of the unknowns
  std::optional<ModelSpace>
      codes{};  ///< with a learned prior, but for a polish: of its codes and the cells outside
  std::optional<inversion::optimize::InversionSummary>
      features{};                  ///< of a polish: how the stage before ended
  Eigen::VectorXd design_log10{};  ///< the model whose meshes it begins on; empty: the start

  /// Returns true if steps of cells, which are the unknowns, alternate with steps of codes.
  [[nodiscard]] bool alternates() const { return codes && !physics.space().coded(); }

  /// To count iterations over all stages.
  [[nodiscard]] inversion::optimize::StagedHistory history() const;
  /// On the meshes it begins with.
  [[nodiscard]] core::MapPtr first_forward() const {
    return physics.forward_for(design_log10.size() > 0 ? design_log10 : earth.start_log10);
  }
  /// Returns the rule by which the meshes follow the model.
  [[nodiscard]] inversion::optimize::Redesign redesign(const config::Config& config) const;
};

/// Cells, or codes and the cells outside them where the configuration has a learned prior (cells again where
/// it alternates); it then starts from the nearest model of that prior. errors: those of `Subdomains`.
[[nodiscard]] Stage first_stage(MPI_Comm comm, const config::Config& config, const Earth& earth,
                                const physics::mt::Survey2D& survey);

[[nodiscard]] bool needs_polish(const config::Config& config,
                                const inversion::optimize::InversionSummary& features);
/// Cells alone, from the model that the features ended with and damped toward it. errors: none of its own.
[[nodiscard]] Stage polish_stage(const config::Config& config, const Stage& first,
                                 inversion::optimize::InversionSummary features);

}  // namespace lodestone::mt_invert::method
