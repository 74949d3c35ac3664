// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/array_io.hpp"
#include "engine/core/differentiable_map.hpp"
#include "engine/core/words.hpp"
#include "inversion/objective/misfit.hpp"
#include "inversion/objective/regularization.hpp"
#include "inversion/optimize/directives.hpp"

#include <mpi.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lodestone::inversion::optimize {

/// The function that is minimized: ½‖residual(F(m))‖² + ½λ‖R (m − m_ref)‖², or Huber's norm of the residual
/// where the misfit has a threshold.
struct Objective {
  core::MapPtr forward;  ///< unknowns m → data
  objective::DataMisfit misfit;
  std::shared_ptr<const objective::Regularization> regularization;
  /// The last of the unknowns whose columns of J cost no simulation, as those of a distortion: steps without
  /// a Jacobian take them out of the system.
  Eigen::Index n_further = 0;
  /// The cells that the unknowns set, where these are codes: rows of J pass through them. 0: the unknowns.
  Eigen::Index n_cells = 0;
};

/// The rules that end a run of iterations, with the defaults of its method.
template <int iterations = 15, int drop_per_mille = 10, int stagnant = 2>
struct StopRulesOf {
  int max_iterations = iterations;  ///< pairs in `Alternating`
  double target_rms = 1.0;
  double min_rms_drop =
      drop_per_mille / 1000.0;  ///< relative; a smaller one for `patience` iterations in a row: stagnated
  int patience = stagnant;

  /// Rules are the same for every method; only their defaults differ.
  template <int i, int d, int s>
  operator StopRulesOf<i, d, s>() const {
    return {max_iterations, target_rms, min_rms_drop, patience};
  }
};
using StopRules = StopRulesOf<>;

/// The end of a minimization.
enum class StopReason { target_reached, stagnated, max_iterations, interrupted, time_limit, failed };
constexpr auto words(StopReason) {
  using enum StopReason;
  return core::Words<StopReason>{
      {target_reached, "target reached"}, {stagnated, "stagnated"},   {max_iterations, "iterations ran out"},
      {interrupted, "interrupted"},       {time_limit, "time limit"}, {failed, "failed"}};
}

struct InversionSummary {
  StopReason reason = StopReason::failed;
  std::string message;               ///< one sentence, with the cause of a failure
  Eigen::VectorXd model, predicted;  ///< the last good iterate
  double rms = 0.0, roughness = 0.0, lambda = 0.0;
  double target_rms = 0.0;  ///< in force at the end
  std::vector<IterationRecord> history;
  Eigen::VectorXd design_model{};  ///< the model of the last redesign; empty: the forward map is the one the
                                   ///< run began with
  [[nodiscard]] bool usable() const { return !history.empty() && model.size() > 0; }
  [[nodiscard]] std::string brief() const;
};

/// Everything needed to go on from an iteration and reach the identical result.
struct InversionState {
  int iteration = 0;
  double lambda =
      0.0;  ///< λ of the last jump (in a pair, of the cells) or in force (gradient methods); 0: none yet
  double creep_lambda = 0.0;  ///< λ of the last step if that crept; 0: it jumped
  int n_stagnated = 0;        ///< iterations in a row whose rms fell by less than min_rms_drop
  Eigen::VectorXd model;
  Eigen::MatrixXd memory;  ///< gradient methods: one column per vector; pairs: λ/rms of either half for
                           ///< the next; else empty
  int design_iteration =
      -1;  ///< iteration whose redesign made the forward map; −1: the map the run began with
  Eigen::VectorXd design_model;  ///< the argument of that redesign; empty without one
  std::vector<IterationRecord> history;
  std::string origin{};  ///< file it was read from, for messages; empty: of this process
};

/// The arguments of a redesign before an iteration.
struct RedesignView {
  const Eigen::VectorXd& model;                ///< start of the iteration
  int iteration = 0;                           ///< number of the iteration about to begin; the first has 1
  std::span<const IterationRecord> history{};  ///< all models so far; the last row is that of `model`
};

/// A function that runs before each iteration and may replace the forward map (a redesigned mesh); nullptr
/// keeps it. The misfit is logged before and after. Its result must follow from the arguments alone: `resume`
/// calls it with those of the last redesign to get the same map back.
using Redesign = std::function<core::MapPtr(const RedesignView& view)>;

/// The functions that a run calls besides its objective, alike for every method; all are optional.
struct Hooks {
  std::vector<std::shared_ptr<Directive>> directives{};
  Redesign redesign{};
  /// A model at the target is the last only if it is there on the map that is redesigned for it as well.
  bool confirm = false;
  /// The history then contains the roughness after it. Not for descents, because they precondition with the
  /// regularization of the start.
  objective::Reweigh reweigh{};
  /// Runs after the start model and after every iteration. A reason on any rank stops all of them cleanly.
  std::function<std::optional<StopReason>()> stop{};
};

class Run;
struct RunSettings;

/// An iterative method that minimizes an objective. collective over its communicator; every rank holds the
/// same model.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  Optimizer(Optimizer&&) = default;
  Optimizer& operator=(Optimizer&&) = default;

  /// Minimizes from a start model. A forward run that throws SolverError or gives NaN causes no exception: as
  /// a trial it is rejected, elsewhere the summary has `failed` and the last good model. errors: ShapeError,
  /// InvalidArgument.
  [[nodiscard]] InversionSummary minimize(Objective objective, Eigen::VectorXd start, Hooks hooks = {}) const;
  /// Continues from a saved state; with the same hooks the trajectory is the one the uninterrupted run takes.
  [[nodiscard]] InversionSummary resume(Objective objective, InversionState state, Hooks hooks = {}) const;

 protected:
  /// Keeps `comm`, which a process without MPI never uses.
  explicit Optimizer(MPI_Comm comm) : comm_(comm) {}

 private:
  [[nodiscard]] virtual std::unique_ptr<Run> make_run(const RunSettings& settings,
                                                      Objective objective) const = 0;

  MPI_Comm comm_;
};

/// Writes and reads a state as named arrays of a group, without loss. errors of read_state: FormatError.
void write_state(core::ArraySink& sink, const InversionState& state, const std::string& group = "state");
[[nodiscard]] InversionState read_state(const core::ArraySource& source, const std::string& group = "state");

}  // namespace lodestone::inversion::optimize
