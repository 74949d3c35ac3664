// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/error.hpp"
#include "engine/core/mpi/team.hpp"
#include "inversion/optimize/optimizer.hpp"

#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <string>

namespace lodestone::inversion::optimize {

/// The reason for which a run ends.
struct Stop {
  StopReason reason;
  std::string message;
};

/// A model whose forward run was tried.
struct Candidate {
  Eigen::VectorXd model{}, predicted{};
  StepKind kind = StepKind::jump;
  double lambda = 0.0, step = 1.0;
  double code_lambda = 0.0;  ///< λ of the codes in a pair
  double rms = std::numeric_limits<double>::infinity();
  std::string failure{};  ///< reason of its rejection
};

/// Checks the rules. errors: InvalidArgument of `component`.
void check(const StopRules& rules, const char* component);
/// Checks that an objective belongs to a start model. errors: InvalidArgument, ShapeError.
void check(const Objective& objective, const Eigen::VectorXd& model);

/// The surroundings of a run, alike for every method.
struct RunSettings {
  MPI_Comm comm;
  Hooks hooks{};
};

/// Throws the FormatError for a memory of another shape than `expected`.
[[noreturn]] void refuse_memory(const InversionState& state, const std::string& expected);

/// Returns the vector of rank 0 on all ranks. errors: SolverError on all ranks when `product` throws it on
/// one.
template <class Product>
[[nodiscard]] Eigen::MatrixXd agreed(const core::Team& team, Product&& product) {
  Eigen::MatrixXd result;
  std::string failure;
  try {
    result = product();
  } catch (const core::SolverError& error) {
    failure = error.what();
  }
  if (team.any(!failure.empty()))
    throw core::SolverError("inversion::Optimizer#product_failed", "{}",
                            failure.empty() ? "a product with the Jacobian failed on another rank" : failure);
  team.broadcast(result);
  return result;
}

/// One run: the state, the surroundings of the iterations, and the parts that all methods need. Internal to
/// this layer. collective: every member.
class Run {
 public:
  /// `settings`: outlive the run.
  Run(const RunSettings& settings, StopRules rules, double lambda_start, Objective objective);
  virtual ~Run() = default;
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  [[nodiscard]] InversionSummary begin(Eigen::VectorXd model);
  [[nodiscard]] InversionSummary resume(InversionState state);

 protected:
  /// Moves from the present model to a better one by `accept`, or returns why there is none.
  [[nodiscard]] virtual std::optional<Stop> iterate() = 0;
  /// Tests whether a model at the target is the last, from the state alone, so that a resumed run decides
  /// alike. By default the first one is.
  [[nodiscard]] virtual std::optional<Stop> settled_at_target() const;

  /// Returns the target in force, from the state alone, so that a resumed run has the same. By default that
  /// of the rules.
  [[nodiscard]] virtual double target_rms() const { return rules_.target_rms; }
  [[nodiscard]] bool at_target(double rms) const { return rms <= target_rms(); }
  [[nodiscard]] bool hardly_fell(double rms) const {
    return !at_target(rms) && rms > (1.0 - rules_.min_rms_drop) * rms_at_start_;
  }
  /// Runs the forward map; a failure or NaN on any rank rejects the candidate on all of them.
  void evaluate(Candidate& candidate);
  /// Evaluates a trial of a step. Unless the map is redesigned between iterations, the linearization of the
  /// trial most likely to be accepted is kept for the next iteration. Meanwhile one more of them exists.
  void evaluate_trial(Candidate& candidate);
  /// Runs the forward map by a linearization, and hands that out unless the candidate is rejected.
  void evaluate(Candidate& candidate, std::unique_ptr<core::Linearization>& linearization);
  /// Refuses a state whose memory is not what the method keeps there. errors: FormatError.
  /// By default any will do, that of another method too.
  virtual void check_memory(const InversionState& /*state*/) const {}
  /// Runs after a row was added to the history, and when a run goes on from one.
  virtual void on_record() {}
  /// Runs after a replacement of the forward map.
  virtual void on_redesign() {}

  /// Makes `linearization_` at the present model unless it is there, and `rms_at_start_`.
  [[nodiscard]] std::optional<Stop> linearize();
  /// Makes the candidate the present model and passes the state to the directives. `linearization_` is then
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

  const Hooks& hooks_;
  StopRules rules_;
  double lambda_start_;
  Eigen::VectorXd predicted_;
  KeptTrial kept_;
  bool redesigned_ = false;  // before this iteration
  std::optional<Stop> asked_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace lodestone::inversion::optimize
