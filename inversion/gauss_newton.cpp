// SPDX-License-Identifier: Apache-2.0
#include "inversion/gauss_newton.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/timer.hpp"
#include "inversion/step_search.hpp"
#include "inversion/team.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

namespace lodestone::inversion {
namespace {

constexpr const char* component = "inversion::GaussNewton";
constexpr double infinity = std::numeric_limits<double>::infinity();

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void check(const GaussNewtonOptions& o) {
  const auto finite_and = [](double value, bool condition) { return std::isfinite(value) && condition; };
  if (o.max_iterations < 0 || o.max_lambda_trials < 1 || o.max_halvings < 0 || o.patience < 1)
    throw core::InvalidArgument(
        component, "expected max_iterations ≥ 0, max_lambda_trials ≥ 1, max_halvings ≥ 0 and patience ≥ 1, got {}, {}, {} and {}",
        o.max_iterations, o.max_lambda_trials, o.max_halvings, o.patience);
  if (!finite_and(o.target_rms, o.target_rms > 0.0) || !finite_and(o.lambda_start, o.lambda_start >= 0.0) ||
      !finite_and(o.lambda_factor, o.lambda_factor > 1.0) || !finite_and(o.lambda_tolerance, o.lambda_tolerance > 0.0))
    throw core::InvalidArgument(
        component, "expected target_rms > 0, lambda_start ≥ 0, lambda_factor > 1 and lambda_tolerance > 0, got {}, {}, {} and {}",
        o.target_rms, o.lambda_start, o.lambda_factor, o.lambda_tolerance);
  if (!finite_and(o.min_rms_drop, o.min_rms_drop >= 0.0) || !finite_and(o.min_roughness_drop, o.min_roughness_drop >= 0.0))
    throw core::InvalidArgument(component, "expected min_rms_drop and min_roughness_drop of 0 or more, got {} and {}", o.min_rms_drop,
                                o.min_roughness_drop);
}

void check(const Objective& objective, const Eigen::VectorXd& model) {
  if (!objective.forward || !objective.regularization)
    throw core::InvalidArgument(component, "the objective needs a forward map and a regularization");
  if (objective.forward->size_in() != model.size() || objective.regularization->size() != model.size())
    throw core::ShapeError(component, "expected a start model of {} unknowns (forward map) and {} (regularization), got {}",
                           objective.forward->size_in(), objective.regularization->size(), model.size());
  if (objective.forward->size_out() != objective.misfit.size())
    throw core::ShapeError(component, "the forward map gives {} data, the misfit holds {}", objective.forward->size_out(),
                           objective.misfit.size());
  if (!model.allFinite()) throw core::InvalidArgument(component, "expected a finite start model");
}

}  // namespace

/// One run: the state, what it needs to move on, and the moves.
struct GaussNewton::Impl {
  Impl(const GaussNewton& settings, Objective what)
      : settings_(settings), options_(settings.options_), team_(settings.comm_), objective_(std::move(what)) {}

  GaussNewtonSummary begin(Eigen::VectorXd model) {
    begin_ = std::chrono::steady_clock::now();
    state_.model = std::move(model);
    state_.lambda = options_.lambda_start;
    Candidate start{.model = state_.model, .kind = StepKind::start, .step = 0.0};
    evaluate(start);
    if (!start.failure.empty()) return summary({StopReason::failed, "the start model has no responses: " + start.failure});
    record(start, start.rms);
    return asked_to_stop() ? summary(*asked_) : loop();
  }

  GaussNewtonSummary resume(GaussNewtonState state) {
    state_ = std::move(state);
    if (state_.design_iteration >= 0 && settings_.redesign_) {
      if (auto forward = settings_.redesign_(state_.design_model, state_.design_iteration)) objective_.forward = std::move(forward);
    }
    Candidate saved{.model = state_.model};
    evaluate(saved);
    if (!saved.failure.empty()) return summary({StopReason::failed, "the saved model has no responses: " + saved.failure});
    predicted_ = std::move(saved.predicted);
    reweigh();
    return loop();
  }

 private:
  GaussNewtonSummary loop() {
    while (true) {
      if (auto stop = finished()) return summary(*stop);
      begin_ = std::chrono::steady_clock::now();
      n_forward_ = n_jacobian_ = 0;
      if (auto stop = redesign()) return summary(*stop);
      if (auto stop = iterate()) return summary(*stop);
      if (asked_to_stop()) return summary(*asked_);
    }
  }

  [[nodiscard]] bool at_target(double rms) const { return rms <= options_.target_rms; }

  /// What follows from the state alone, so that a resumed run decides alike.
  [[nodiscard]] std::optional<Stop> finished() const {
    const auto& history = state_.history;
    const IterationRecord& last = history.back();
    if (at_target(last.rms)) {
      if (last.roughness == 0.0) return Stop{StopReason::target_reached, "the reference model itself is at the target"};
      if (history.size() > 1) {
        const IterationRecord& before = history[history.size() - 2];
        if (at_target(before.rms) && last.roughness > (1.0 - options_.min_roughness_drop) * before.roughness)
          return Stop{StopReason::target_reached, "the roughness no longer falls at the target"};
      }
    }
    if (state_.n_stagnated >= options_.patience)
      return Stop{StopReason::stagnated, fmt::format("the rms fell by less than {:g} % in {} iterations in a row",
                                                     100.0 * options_.min_rms_drop, state_.n_stagnated)};
    if (state_.iteration < options_.max_iterations) return std::nullopt;
    if (at_target(last.rms))
      return Stop{StopReason::target_reached, "at the target when the iterations ran out; a smoother model may exist"};
    return Stop{StopReason::max_iterations,
                fmt::format("the rms is above the target {:g} after {} iterations", options_.target_rms, state_.iteration)};
  }

  bool asked_to_stop() {
    const auto reason = settings_.stop_ ? settings_.stop_() : std::nullopt;
    const int code = team_.max(reason ? static_cast<int>(*reason) : -1);
    if (code < 0) return false;
    const auto agreed = static_cast<StopReason>(code);
    asked_ = Stop{agreed, fmt::format("stopped from outside ({})", describe(agreed))};
    return true;
  }

  std::optional<Stop> redesign() {
    if (!settings_.redesign_) return std::nullopt;
    auto forward = settings_.redesign_(state_.model, state_.iteration + 1);
    if (!forward) return std::nullopt;
    Objective next{std::move(forward), objective_.misfit, objective_.regularization};
    check(next, state_.model);
    std::swap(objective_, next);
    Candidate same{.model = state_.model};
    evaluate(same);
    if (!same.failure.empty()) return Stop{StopReason::failed, "the redesigned forward map has no responses: " + same.failure};
    core::log::info("iteration {}: forward map redesigned, rms {:.4f} before, {:.4f} after", state_.iteration + 1,
                    state_.history.back().rms, same.rms);
    predicted_ = std::move(same.predicted);
    state_.design_iteration = state_.iteration + 1;
    state_.design_model = state_.model;
    return std::nullopt;
  }

  /// Runs the forward map; a failure or NaN on any rank rejects the candidate on all of them.
  void evaluate(Candidate& candidate) {
    const core::ScopedTimer timer("inversion/forward");
    ++n_forward_;
    const bool is_trial = !state_.history.empty();
    try {
      candidate.predicted = objective_.forward->value(candidate.model);
    } catch (const core::SolverError& failure) {
      candidate.failure = failure.what();
    } catch (const core::InvalidArgument& failure) {  // a trial may ask for what no forward map can give, as 10^400 ohm m
      if (!is_trial) throw;
      candidate.failure = failure.what();
    }
    if (team_.any(!candidate.failure.empty())) {
      if (candidate.failure.empty()) candidate.failure = "the forward run failed on another rank";
      return;
    }
    team_.broadcast(candidate.predicted);
    candidate.rms = objective_.misfit.rms(candidate.predicted);
    if (std::isfinite(candidate.rms)) return;
    candidate.rms = infinity;
    candidate.failure = "the forward run gave a kept datum that is not finite";
  }

  /// The linearised problem at the present model, or why there is none.
  std::optional<Stop> linearise(std::optional<DataSpaceSystem>& system) {
    progress("jacobian");
    std::string failure;
    std::unique_ptr<core::Linearization> linearization;
    ++n_jacobian_;
    try {
      const core::ScopedTimer timer("inversion/linearize");
      linearization = objective_.forward->linearize(state_.model);
    } catch (const core::SolverError& error) {
      failure = error.what();
    }
    if (!team_.any(!failure.empty())) {
      rms_at_start_ = objective_.misfit.rms(linearization->value());
      if (!std::isfinite(rms_at_start_)) return Stop{StopReason::failed, "the linearised forward run gave a kept datum that is not finite"};
      try {
        system.emplace(team_, *linearization, objective_.misfit, *objective_.regularization, state_.model);
      } catch (const core::SolverError& error) {
        failure = error.what();
      }
    }
    if (!team_.any(!failure.empty())) return std::nullopt;
    return Stop{StopReason::failed, failure.empty() ? "the linearisation failed on another rank" : failure};
  }

  std::optional<Stop> iterate() {
    std::optional<DataSpaceSystem> system;
    if (auto stop = linearise(system)) return stop;
    StepSearch search(options_, *system, *objective_.regularization, {state_.model, rms_at_start_, state_.lambda, state_.creep_lambda},
                      {[this](Candidate& candidate) { evaluate(candidate); }, [this](const std::string& what) { progress(what); }});
    auto outcome = search.run();
    if (auto* stop = std::get_if<Stop>(&outcome)) return std::move(*stop);
    accept(std::get<Candidate>(outcome));
    return std::nullopt;
  }

  void accept(Candidate& candidate) {
    const bool too_little = !at_target(candidate.rms) && candidate.rms > (1.0 - options_.min_rms_drop) * rms_at_start_;
    state_.n_stagnated = too_little ? state_.n_stagnated + 1 : 0;
    state_.model = std::move(candidate.model);
    if (candidate.kind == StepKind::jump) state_.lambda = candidate.lambda;
    state_.creep_lambda = candidate.kind == StepKind::creep ? candidate.lambda : 0.0;
    ++state_.iteration;
    record(candidate, rms_at_start_);
  }

  /// The weights of the roughness are those of the model now in the state.
  void reweigh() {
    if (!settings_.reweigh_) return;
    Objective next{objective_.forward, objective_.misfit, settings_.reweigh_(state_.model)};
    check(next, state_.model);
    objective_.regularization = std::move(next.regularization);
  }

  /// Adds the row of the model now in the state and tells the directives.
  void record(Candidate& candidate, double rms_at_start) {
    predicted_ = std::move(candidate.predicted);
    reweigh();
    state_.history.push_back({.iteration = state_.iteration,
                              .kind = candidate.kind,
                              .lambda = candidate.lambda,
                              .rms = candidate.rms,
                              .roughness = objective_.regularization->cost(state_.model),
                              .step = candidate.step,
                              .rms_at_start = rms_at_start,
                              .n_forward = n_forward_,
                              .n_jacobian = n_jacobian_,
                              .seconds = seconds_since(begin_)});
    const IterationView view{state_.history.back(), state_.model, predicted_, state_};
    for (const auto& directive : settings_.directives_) directive->on_iteration(view);
  }

  void progress(const std::string& what) const {
    for (const auto& directive : settings_.directives_) directive->on_progress(what);
  }

  [[nodiscard]] GaussNewtonSummary summary(const Stop& stop) const {
    GaussNewtonSummary summary{
        .reason = stop.reason, .message = stop.message, .model = state_.model, .predicted = predicted_, .history = state_.history};
    if (state_.history.empty()) return summary;
    summary.rms = state_.history.back().rms;
    summary.roughness = state_.history.back().roughness;
    summary.lambda = state_.history.back().lambda;
    return summary;
  }

  const GaussNewton& settings_;
  const GaussNewtonOptions& options_;
  Team team_;
  Objective objective_;
  GaussNewtonState state_;
  Eigen::VectorXd predicted_;
  std::optional<Stop> asked_;
  double rms_at_start_ = infinity;  // of the state's model on the present map
  int n_forward_ = 0, n_jacobian_ = 0;
  std::chrono::steady_clock::time_point begin_;
};

GaussNewton::GaussNewton(MPI_Comm comm, GaussNewtonOptions options) : comm_(comm), options_(options) { check(options_); }

void GaussNewton::add(std::shared_ptr<Directive> directive) { directives_.push_back(std::move(directive)); }
void GaussNewton::set_redesign(Redesign redesign) { redesign_ = std::move(redesign); }
void GaussNewton::set_reweigh(Reweigh reweigh) { reweigh_ = std::move(reweigh); }
void GaussNewton::set_stop(std::function<std::optional<StopReason>()> stop) { stop_ = std::move(stop); }

GaussNewtonSummary GaussNewton::minimise(Objective objective, Eigen::VectorXd start) {
  check(objective, start);
  return Impl(*this, std::move(objective)).begin(std::move(start));
}

GaussNewtonSummary GaussNewton::resume(Objective objective, GaussNewtonState state) {
  check(objective, state.model);
  if (state.history.empty()) throw core::InvalidArgument(component, "expected a saved state with a history, got none");
  return Impl(*this, std::move(objective)).resume(std::move(state));
}

std::string_view describe(StepKind kind) {
  switch (kind) {
    case StepKind::start:
      return "start";
    case StepKind::jump:
      return "jump";
    case StepKind::creep:
      return "creep";
  }
  return "unknown";
}

std::string_view describe(StopReason reason) {
  switch (reason) {
    case StopReason::target_reached:
      return "target reached";
    case StopReason::stagnated:
      return "stagnated";
    case StopReason::max_iterations:
      return "iterations ran out";
    case StopReason::interrupted:
      return "interrupted";
    case StopReason::time_limit:
      return "time limit";
    case StopReason::failed:
      return "failed";
  }
  return "unknown";
}

std::string GaussNewtonSummary::brief() const {
  int n_forward = 0, n_jacobian = 0;
  double seconds = 0.0;
  for (const IterationRecord& row : history) {
    n_forward += row.n_forward;
    n_jacobian += row.n_jacobian;
    seconds += row.seconds;
  }
  if (history.empty()) return fmt::format("{}: {}", describe(reason), message);
  return fmt::format("{} after {} iterations ({}): rms {:.4f}, roughness {:.4e}, lambda {:.3e}; {} forward runs, {} Jacobians, {:.1f} s",
                     describe(reason), history.back().iteration, message, rms, roughness, lambda, n_forward, n_jacobian, seconds);
}

}  // namespace lodestone::inversion
