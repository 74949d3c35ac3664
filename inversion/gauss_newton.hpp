// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/array_io.hpp"
#include "engine/core/differentiable_map.hpp"
#include "inversion/directive.hpp"
#include "inversion/misfit.hpp"
#include "inversion/regularization.hpp"

#include <mpi.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lodestone::inversion {

/// What is minimised: ½‖residual(F(m))‖² + ½λ‖R (m − m_ref)‖².
struct Objective {
  core::MapPtr forward;  ///< unknowns m → data
  DataMisfit misfit;
  std::shared_ptr<const Regularization> regularization;
};

/// Data-space Gauss–Newton with an Occam search for λ; steps creep where Occam's jumps no longer pay.
struct GaussNewtonOptions {
  int max_iterations = 15;
  double target_rms = 1.0;
  double lambda_start = 0.0;                  ///< 0: chosen so that the linearised rms of the first step is half the start's, or the target
  double lambda_factor = 3.1622776601683795;  ///< first bracket step of the λ search
  double lambda_tolerance = 0.1;              ///< in log10 λ, of the search for the largest λ at the target
  int max_lambda_trials = 10;                 ///< forward runs per λ search
  int max_halvings = 5;                       ///< of the step, when no λ helps
  double min_rms_drop = 0.01;                 ///< relative; a smaller one for `patience` iterations in a row: stagnated
  int patience = 2;
  double min_roughness_drop = 0.02;  ///< relative; a smaller one between two models at the target: target_reached
};

enum class StopReason { target_reached, stagnated, max_iterations, interrupted, time_limit, failed };
[[nodiscard]] std::string_view describe(StopReason reason);

struct GaussNewtonSummary {
  StopReason reason = StopReason::failed;
  std::string message;               ///< one sentence, with the cause of a failure
  Eigen::VectorXd model, predicted;  ///< the last good iterate
  double rms = 0.0, roughness = 0.0, lambda = 0.0;
  std::vector<IterationRecord> history;
  [[nodiscard]] bool usable() const { return !history.empty() && model.size() > 0; }
  [[nodiscard]] std::string brief() const;
};

/// Everything needed to go on from an iteration and reach the identical result.
struct GaussNewtonState {
  int iteration = 0;
  double lambda = 0.0;        ///< of the last jump; 0: none yet
  double creep_lambda = 0.0;  ///< of the last step if that crept; 0: it jumped
  int n_stagnated = 0;        ///< iterations in a row whose rms fell by less than min_rms_drop
  Eigen::VectorXd model;
  int design_iteration = -1;     ///< iteration whose redesign made the forward map; −1: the map the run began with
  Eigen::VectorXd design_model;  ///< the model that redesign was asked with; empty without one
  std::vector<IterationRecord> history;
};

/// Asked before each iteration: may replace the forward map (a redesigned mesh); nullptr keeps it. The misfit is logged before and after.
/// Must follow from its arguments alone: `resume` asks again with those of the last redesign to get the same map back.
using Redesign = std::function<core::MapPtr(const core::ConstVectorRef& model, int iteration)>;

/// Asked at the start (or saved) model and after each accepted one: the regularization to go on with, for norms whose weights follow the model.
/// Must follow from the model alone: `resume` asks again with the saved one.
using Reweigh = std::function<std::shared_ptr<const Regularization>(const core::ConstVectorRef& model)>;

/// collective over `comm`; every rank holds the same model. source: Constable et al. 1987 (Occam); Siripunvaraporn & Egbert 2000 (data space);
/// Parker 1994 (creeping).
class GaussNewton {
 public:
  /// `comm` is not used by a process that never started MPI. errors: InvalidArgument on options without sense.
  explicit GaussNewton(MPI_Comm comm, GaussNewtonOptions options = {});

  void add(std::shared_ptr<Directive> directive);
  void set_redesign(Redesign redesign);
  /// The roughness in the history is then the one after reweighting.
  void set_reweigh(Reweigh reweigh);
  /// Asked after the start model and after every iteration; a reason on any rank stops all of them cleanly.
  void set_stop(std::function<std::optional<StopReason>()> stop);

  /// errors: ShapeError, InvalidArgument. A forward run that throws SolverError or gives NaN never leaves as an exception: as a trial it is rejected, elsewhere
  /// the summary says `failed` and keeps the last good model.
  [[nodiscard]] GaussNewtonSummary minimise(Objective objective, Eigen::VectorXd start);
  /// Continues from a saved state; the trajectory is the one the uninterrupted run takes.
  [[nodiscard]] GaussNewtonSummary resume(Objective objective, GaussNewtonState state);

 private:
  struct Impl;
  MPI_Comm comm_;
  GaussNewtonOptions options_;
  std::vector<std::shared_ptr<Directive>> directives_;
  Redesign redesign_;
  Reweigh reweigh_;
  std::function<std::optional<StopReason>()> stop_;
};

/// State ↔ named arrays, for checkpoints ("state/…"), without loss. errors of read_state: FormatError.
void write_state(core::ArraySink& sink, const GaussNewtonState& state);
[[nodiscard]] GaussNewtonState read_state(const core::ArraySource& source);

}  // namespace lodestone::inversion
