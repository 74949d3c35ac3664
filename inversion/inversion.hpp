// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/assessment.hpp"
#include "inversion/checkpoint.hpp"
#include "inversion/ending.hpp"
#include "inversion/optimize/directives.hpp"
#include "inversion/stage.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lodestone::inversion {

// The types that programs name, without their rooms.
using optimize::Cooling;
using optimize::DescentOptions;
using optimize::GaussNewtonOptions;
using optimize::Occam;
using uncertainty::EnsembleOptions;

/// A whole inversion: its stages (cells; codes, then polish; pairs), the responses at the final accuracy,
/// what the data determine, and the ending. collective: every member.
class Inversion {
 public:
  using DirectivePtr = std::shared_ptr<optimize::Directive>;
  /// Makes the directive of a stage; null for none.
  using DirectiveMaker = std::function<DirectivePtr(const Stage& stage)>;

  /// Cuts the regions of a learned prior and makes the first stage. errors: those of `Problem::check` and of
  /// `prior::Regions`; InvalidArgument on options without sense.
  Inversion(MPI_Comm comm, Problem problem, Method method = GaussNewtonOptions{});

  /// Adds what happens per iteration: the same object in all stages, or one made for each.
  void add(DirectivePtr directive);
  void add(DirectiveMaker maker) { makers_.push_back(std::move(maker)); }
  /// Keeps a checkpoint after every iteration, and resumes from the one that is stored if there is one; the
  /// configuration of the problem must be the same. errors: those of `read_checkpoint`.
  void keep(core::StorePtr checkpoint);
  /// Resumes from a stored checkpoint without keeping further ones. errors: as `keep`; FileError when nothing
  /// is stored.
  void resume_from(const core::Store& checkpoint);
  /// Finds out how well the data determine the model. `samples`: where those of the ensemble are kept.
  void assess(AssessmentOptions options, core::StorePtr samples = {});
  /// Asks for a reason to stop after the start model and every iteration and sample.
  void set_stop(StopRule stop) { stop_ = std::move(stop); }

  [[nodiscard]] const Problem& problem() const { return *problem_; }
  [[nodiscard]] const Method& method() const { return method_; }
  [[nodiscard]] const std::optional<AssessmentOptions>& assessment() const { return assessment_; }
  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] const Stage& first() const { return first_; }

  /// Runs everything. A run that is stopped from outside returns early, with the exit code for that. errors:
  /// SolverError when there is no model at all.
  [[nodiscard]] Outcome minimize();
  /// Measures the errors of the maps at the final model, after the results were written: adds the table
  /// "certificate", or the reason for which there is none to the facts. A request to stop ends it with
  /// a warning. Returns true if the outcome changed.
  [[nodiscard]] bool certify(Outcome& outcome) const;

 private:
  [[nodiscard]] RunInputs inputs() const;
  [[nodiscard]] optimize::InversionSummary minimize_stage(const Stage& stage);
  [[nodiscard]] std::vector<DirectivePtr> directives(const Stage& stage) const;
  struct Minimized;       ///< the stages of a run and how the last of them ended
  struct FinalResponses;  ///< responses at the final accuracy
  [[nodiscard]] Minimized minimize_stages();
  [[nodiscard]] FinalResponses final_responses(const Stage& stage, const optimize::InversionSummary& summary);
  void find_responses(const Minimized& found, Outcome& out);
  [[nodiscard]] std::optional<optimize::StopReason> stopped() const { return stop_ ? stop_() : std::nullopt; }

  MPI_Comm comm_;
  core::Provenance provenance_;
  ProblemPtr problem_;
  Method method_;
  Stage first_;
  std::vector<DirectiveMaker> makers_;
  core::StorePtr checkpoint_, samples_;
  RunInputs inputs_;
  std::optional<RunState> saved_;  ///< state of the stage that is resumed
  std::optional<AssessmentOptions> assessment_;
  StopRule stop_;
  double results_s_ = 0.0;  ///< wall time of the responses at the final accuracy
};

/// Makes the table of iterations of a stage for the log, which says on which meshes its rms is.
[[nodiscard]] Inversion::DirectivePtr iteration_table(const Stage& stage);

}  // namespace lodestone::inversion
