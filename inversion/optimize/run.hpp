// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/mpi/team.hpp"
#include "inversion/optimize/optimizer.hpp"

#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <string>

namespace lodestone::inversion::optimize {

/// Why a run ends.
struct Stop {
  StopReason reason;
  std::string message;
};

/// A model whose forward run was tried.
struct Candidate {
  Eigen::VectorXd model{}, predicted{};
  StepKind kind = StepKind::jump;
  double lambda = 0.0, step = 1.0;
  double code_lambda = 0.0;  ///< of a pair
  double rms = std::numeric_limits<double>::infinity();
  std::string failure{};  ///< why it was rejected
};

/// When every method ends; members as in the options of the methods.
struct StopRules {
  int max_iterations;
  double target_rms, min_rms_drop;
  int patience;
};

/// errors: InvalidArgument, in the name of `component`.
void check(const StopRules& rules, const char* component);
/// errors: InvalidArgument, ShapeError.
void check(const Objective& objective, const Eigen::VectorXd& model);

/// One run: the state, what surrounds the iterations, and what all methods need in them. Internal to this
/// layer. collective: every member.
class Run {
 public:
  Run(const RunSettings& settings, StopRules rules, double lambda_start, Objective objective);
  virtual ~Run() = default;
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  [[nodiscard]] InversionSummary begin(Eigen::VectorXd model);
  [[nodiscard]] InversionSummary resume(InversionState state);

 protected:
  /// Moves from the present model to a better one by `accept`, or says why there is none.
  [[nodiscard]] virtual std::optional<Stop> iterate() = 0;
  /// Whether a model at the target is the last; from the state alone, so that a resumed run decides alike. By
  /// default the first one is.
  [[nodiscard]] virtual std::optional<Stop> settled_at_target() const;

  [[nodiscard]] bool at_target(double rms) const { return rms <= rules_.target_rms; }
  [[nodiscard]] bool hardly_fell(double rms) const {
    return !at_target(rms) && rms > (1.0 - rules_.min_rms_drop) * rms_at_start_;
  }
  /// Runs the forward map; a failure or NaN on any rank rejects the candidate on all of them.
  void evaluate(Candidate& candidate);
  /// As `evaluate` for a trial of a step. Unless the map is redesigned between iterations, the linearization
  /// of the trial that is most likely to be accepted is kept (one more lives meanwhile), so that `accept`
  /// hands it to the next iteration.
  void evaluate_trial(Candidate& candidate);
  /// The same by a linearization, which is handed out when the candidate was not rejected.
  void evaluate(Candidate& candidate, std::unique_ptr<core::Linearization>& linearization);
  /// Told when the forward map was replaced.
  virtual void on_redesign() {}

  /// Makes `linearization_` at the present model unless it is there, and `rms_at_start_`.
  [[nodiscard]] std::optional<Stop> linearize();
  /// The candidate becomes the present model, and the state is handed to the directives; `linearization_` is
  /// that of the trial if it was kept, or nothing.
  void accept(Candidate& candidate, int n_stagnated);
  void progress(const std::string& what) const;

  core::Team team_;
  Objective objective_;
  InversionState state_;
  double rms_at_start_ = std::numeric_limits<double>::infinity();  // of the state's model on the present map
  std::unique_ptr<core::Linearization> linearization_;  // at the state's model on the present map, or nothing
  int n_forward_ = 0, n_jacobian_ = 0;                  // in this iteration

 private:
  /// A trial of this iteration whose linearization is kept.
  struct KeptTrial {
    Eigen::VectorXd model{};
    double rms = std::numeric_limits<double>::infinity(), lambda = 0.0;
    std::unique_ptr<core::Linearization> linearization{};
  };
  InversionSummary loop();
  [[nodiscard]] bool is_likelier(const Candidate& candidate) const;
  [[nodiscard]] std::optional<Stop> finished() const;
  bool asked_to_stop();
  [[nodiscard]] core::MapPtr ask_for_redesign(const Eigen::VectorXd& model, int iteration) const;
  std::optional<Stop> redesign();
  void reweigh();
  template <class Respond>
  void guarded(Candidate& candidate, Respond&& respond);
  void record(Candidate& candidate, double rms_at_start);
  [[nodiscard]] InversionSummary summary(const Stop& stop) const;

  const RunSettings& settings_;
  StopRules rules_;
  double lambda_start_;
  Eigen::VectorXd predicted_;
  KeptTrial kept_;
  bool redesigned_ = false;  // before this iteration
  std::optional<Stop> asked_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace lodestone::inversion::optimize
