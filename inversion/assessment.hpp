// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/store.hpp"
#include "inversion/prior/findings.hpp"
#include "inversion/stage.hpp"
#include "inversion/uncertainty/ensemble.hpp"
#include "inversion/uncertainty/findings.hpp"
#include "inversion/uncertainty/posterior.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace lodestone::inversion {

/// The choices of how well a final model is known. They do not change the model.
struct AssessmentOptions {
  bool posterior = false;                                  ///< linearized, at the final model
  std::optional<uncertainty::EnsembleOptions> ensemble{};  ///< absent: no samples
  uncertainty::InvestigationOptions investigation{};
  bool scale_errors = true;  ///< multiplies errors by the final rms where that is above 1
  bool widen_prior =
      true;  ///< codes are not narrower before the data than they were trained, whatever the λ of the run
};

/// A minimization that is over.
struct EndedRun {
  const Stage &first, &last;                  ///< one stage twice without a polish
  const optimize::InversionSummary& summary;  ///< result of the last stage
};

using StopRule = std::function<std::optional<optimize::StopReason>()>;

/// The uncertainty of a model, unless the samples were stopped.
struct UncertaintyResult {
  std::optional<uncertainty::Uncertainty> found{};  ///< nothing where it cannot be had, as a warning states
  std::optional<optimize::StopReason> stopped{};
};

/// Finds the uncertainty in the unknowns of the last stage that took a step, with the λ of that step. These
/// are codes where steps of cells and codes took turns. `samples`: where samples are kept as they come, and
/// taken from when they are of this model; null: in memory alone. `stop` is called after each sample.
/// collective. errors: FileError, FormatError of the samples.
[[nodiscard]] UncertaintyResult find_uncertainty(MPI_Comm comm, const EndedRun& run,
                                                 const AssessmentOptions& options,
                                                 const core::StorePtr& samples, const StopRule& stop);

/// Finds how a final model stands to the learned prior: codes, nearest model, deviation from it, and the
/// coverage of every subdomain. Where there is a posterior, coverage includes the share of the data. Logs
/// a line per region, at level debug one per subdomain. Needs a first stage with codes. shape: model
/// (n_cells).
[[nodiscard]] prior::PriorFindings find_prior(const EndedRun& run, const Eigen::VectorXd& model,
                                              const std::optional<uncertainty::Uncertainty>& uncertainty,
                                              double target_rms);

}  // namespace lodestone::inversion
