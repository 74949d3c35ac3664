// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/method.hpp"
#include "inversion/optimize/staged_history.hpp"
#include "inversion/problem.hpp"

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>

namespace lodestone::inversion {

using ProblemPtr = std::shared_ptr<const Problem>;

/// One minimization of a problem: over which unknowns, from where, and toward what.
struct Stage {
  std::string name;  ///< "cells"; with a learned prior "features", and "polish" behind them
  ProblemPtr problem;
  Unknowns unknowns;
  Eigen::VectorXd start;                   ///< start values of the unknowns
  Eigen::VectorXd start_model, reference;  ///< values of all cells
  std::optional<Unknowns>
      codes{};  ///< codes and the cells outside; empty without a learned prior and in a polish
  std::optional<optimize::InversionSummary> features{};  ///< result of the stage before a polish; else empty
  Eigen::VectorXd design_model{};  ///< the model whose maps it begins with; empty: the start

  /// Returns true if steps of cells, which are the unknowns, alternate with steps of codes.
  [[nodiscard]] bool alternates() const { return codes && !unknowns.coded(); }
  /// Returns the rows of the stages before, to count iterations over all of them.
  [[nodiscard]] optimize::StagedHistory history() const;
  /// Makes the data map of some unknowns, on maps for a model. shape: (n_cells).
  [[nodiscard]] core::MapPtr forward_for(const Eigen::VectorXd& model, const Unknowns& of) const;
  /// Makes the map that the stage begins with.
  [[nodiscard]] core::MapPtr first_forward() const {
    return forward_for(design_model.size() > 0 ? design_model : start_model, unknowns);
  }
  /// Returns the rule by which the maps follow the model. It keeps a reference to this object.
  [[nodiscard]] optimize::Redesign redesign(double target_rms) const;
};

/// Makes the first stage: cells, or codes and the cells outside them with a learned prior (cells again where
/// the method alternates); it then starts from the nearest model of that prior. errors: those of
/// `prior::Regions`.
[[nodiscard]] Stage first_stage(ProblemPtr problem, const Method& method);

/// Returns true if a stage in cells follows the one in codes.
[[nodiscard]] bool needs_polish(const Problem& problem, const optimize::InversionSummary& features);
/// Makes the stage in cells alone, from the model that the codes ended with and damped toward it.
[[nodiscard]] Stage polish_stage(const Stage& first, optimize::InversionSummary features, double target_rms);

}  // namespace lodestone::inversion
