// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/method.hpp"
#include "inversion/optimize/directives.hpp"
#include "inversion/problem.hpp"

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>

namespace lodestone::inversion {

using ProblemPtr = std::shared_ptr<const Problem>;

/// One minimization of a problem: over which unknowns, from where, and toward what.
struct Stage {
  /// "cells"; with a learned prior "features", and "polish" behind them; "final" of the last steps
  std::string name;
  ProblemPtr problem;
  Unknowns unknowns;
  Eigen::VectorXd start;                   ///< start values of the unknowns
  Eigen::VectorXd start_model, reference;  ///< values of all cells
  std::optional<Unknowns>
      codes{};  ///< codes and the cells outside; empty without a learned prior and in a polish
  std::optional<optimize::InversionSummary> features{};  ///< result of the stage before a polish; else empty
  Eigen::VectorXd design_model{};  ///< the model whose maps it begins with; empty: the start
  std::optional<optimize::InversionSummary> iterated{};  ///< result on the iterations' maps, of last steps
  std::vector<optimize::StagedRecord> rows_before{};     ///< rows of all stages before last steps

  /// Returns true if steps of cells, which are the unknowns, alternate with steps of codes.
  [[nodiscard]] bool alternates() const { return codes && !unknowns.coded(); }
  /// Returns the rows of the stages before, to count iterations over all of them.
  [[nodiscard]] optimize::StagedHistory history() const;
  /// Returns true for the last steps, on maps of the final accuracy.
  [[nodiscard]] bool is_final() const { return iterated.has_value(); }
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

/// Makes the stage of the last steps, at the final accuracy, from the model of the stage before.
[[nodiscard]] Stage final_stage(const Stage& before, optimize::InversionSummary iterated);

}  // namespace lodestone::inversion
