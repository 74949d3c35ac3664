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
  core::MapPtr forward;                                 ///< unknowns m → data
  DataMisfit misfit;
  std::shared_ptr<const Regularization> regularization;
};

/// Data-space Gauss–Newton with an Occam search for λ.
struct GaussNewtonOptions {
  int max_iterations = 15;
  double target_rms = 1.0;
  double lambda_start = 0.0;             ///< 0: chosen from the size of J C Jᵀ
  double lambda_factor = 3.1622776601683795;  ///< bracket step of the λ search
  double lambda_tolerance = 0.1;         ///< in log10 λ, of the search for the smoothest model at the target
  int max_lambda_trials = 10;            ///< forward runs per iteration
  int max_halvings = 5;                  ///< of the step, when no λ lowers the rms
  double min_rms_drop = 0.01;            ///< relative; below it for `patience` iterations: stagnated
  int patience = 2;
  double max_log_step = 0.0;             ///< largest change of any unknown per iteration; 0: no limit
};

enum class StopReason { target_reached, stagnated, max_iterations, interrupted, time_limit, failed };
[[nodiscard]] std::string_view describe(StopReason reason);

struct GaussNewtonSummary {
  StopReason reason = StopReason::failed;
  std::string message;                    ///< one sentence, with the cause of a failure
  Eigen::VectorXd model, predicted;       ///< the last good iterate
  double rms = 0.0, roughness = 0.0, lambda = 0.0;
  std::vector<IterationRecord> history;
  [[nodiscard]] bool usable() const { return !history.empty() && model.size() > 0; }
  [[nodiscard]] std::string brief() const;
};

/// Everything needed to go on from an iteration and reach the identical result.
struct GaussNewtonState {
  int iteration = 0;
  double lambda = 0.0;
  int n_stagnated = 0;
  Eigen::VectorXd model;
  std::vector<IterationRecord> history;
};

/// Asked before each iteration: may replace the forward map (a redesigned mesh); nullptr keeps it. The misfit is logged before and after.
using Redesign = std::function<core::MapPtr(const core::ConstVectorRef& model, int iteration)>;

/// collective over `comm`; every rank holds the same model. source: Constable et al. 1987 (Occam); Siripunvaraporn & Egbert 2000 (data space).
class GaussNewton {
 public:
  explicit GaussNewton(MPI_Comm comm, GaussNewtonOptions options = {});

  void add(std::shared_ptr<Directive> directive);
  void set_redesign(Redesign redesign);
  /// Asked after every iteration; true stops cleanly with the given reason.
  void set_stop(std::function<std::optional<StopReason>()> stop);

  [[nodiscard]] GaussNewtonSummary minimise(Objective objective, Eigen::VectorXd start);
  /// Continues from a saved state; the trajectory is the one the uninterrupted run takes.
  [[nodiscard]] GaussNewtonSummary resume(Objective objective, GaussNewtonState state);

 private:
  struct Impl;
  MPI_Comm comm_;
  GaussNewtonOptions options_;
  std::vector<std::shared_ptr<Directive>> directives_;
  Redesign redesign_;
  std::function<std::optional<StopReason>()> stop_;
};

/// State ↔ named arrays, for checkpoints ("state/…").
void write_state(core::ArraySink& sink, const GaussNewtonState& state);
[[nodiscard]] GaussNewtonState read_state(const core::ArraySource& source);

}  // namespace lodestone::inversion
