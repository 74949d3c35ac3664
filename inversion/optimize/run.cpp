// SPDX-License-Identifier: Apache-2.0
#include "inversion/optimize/run.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/timer.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace lodestone::inversion::optimize {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

void check(const StopRules& rules, const char* component) {
  if (rules.max_iterations < 0 || rules.patience < 1)
    throw core::InvalidArgument(std::string(component) + "#wrong_iterations",
                                "expected max_iterations ≥ 0 and patience ≥ 1, got {} and {}",
                                rules.max_iterations, rules.patience);
  if (!(rules.target_rms > 0.0) || !std::isfinite(rules.target_rms) || !(rules.min_rms_drop >= 0.0) ||
      !std::isfinite(rules.min_rms_drop))
    throw core::InvalidArgument(std::string(component) + "#wrong_rms",
                                "expected target_rms > 0 and min_rms_drop ≥ 0, got {} and {}",
                                rules.target_rms, rules.min_rms_drop);
}

void check(const Objective& objective, const Eigen::VectorXd& model) {
  if (!objective.forward || !objective.regularization)
    throw core::InvalidArgument("inversion::Optimizer#no_map",
                                "the objective needs a forward map and a regularization");
  if (objective.forward->size_in() != model.size() || objective.regularization->size() != model.size())
    throw core::ShapeError(
        "inversion::Optimizer#wrong_model",
        "expected a start model of {} unknowns (forward map) and {} (regularization), got {}",
        objective.forward->size_in(), objective.regularization->size(), model.size());
  if (objective.forward->size_out() != objective.misfit.size())
    throw core::ShapeError("inversion::Optimizer#wrong_data",
                           "the forward map gives {} data, the misfit holds {}",
                           objective.forward->size_out(), objective.misfit.size());
  if (!model.allFinite())
    throw core::InvalidArgument("inversion::Optimizer#start_not_finite", "expected a finite start model");
}

Run::Run(const RunSettings& settings, StopRules rules, double lambda_start, Objective objective)
    : team_(settings.comm),
      objective_(std::move(objective)),
      hooks_(settings.hooks),
      rules_(rules),
      lambda_start_(lambda_start) {}

InversionSummary Run::begin(Eigen::VectorXd model) {
  begin_ = std::chrono::steady_clock::now();
  state_.model = std::move(model);
  state_.lambda = lambda_start_;
  Candidate start{.model = state_.model, .kind = StepKind::start, .step = 0.0};
  hooks_.redesign ? evaluate(start) : evaluate(start, linearization_);
  if (!start.failure.empty())
    return summary({StopReason::failed, "the start model has no responses: " + start.failure});
  record(start, start.rms);
  return asked_to_stop() ? summary(*asked_) : loop();
}

void refuse_memory(const InversionState& state, const std::string& expected) {
  throw core::FormatError(
      "inversion::Optimizer#other_memory",
      "{}: expected {} in \"state/memory\", got ({}, {}); the checkpoint is damaged: start "
      "the run anew",
      state.origin, expected, state.memory.rows(), state.memory.cols());
}

InversionSummary Run::resume(InversionState state) {
  check_memory(state);
  state_ = std::move(state);
  on_record();
  if (state_.design_iteration >= 0 && hooks_.redesign) {
    if (auto forward = ask_for_redesign(state_.design_model, state_.design_iteration))
      objective_.forward = std::move(forward);
  }
  Candidate saved{.model = state_.model};
  hooks_.redesign ? evaluate(saved) : evaluate(saved, linearization_);
  if (!saved.failure.empty())
    return summary({StopReason::failed, "the saved model has no responses: " + saved.failure});
  predicted_ = std::move(saved.predicted);
  reweigh();
  return loop();
}

InversionSummary Run::loop() {
  while (true) {
    if (auto stop = finished()) return summary(*stop);
    core::TimelineScope event(core::Timeline::Kind::step, "inversion iteration");
    event.set_numbers(state_.iteration + 1, 0);
    begin_ = std::chrono::steady_clock::now();
    n_forward_ = n_jacobian_ = 0;
    if (auto stop = redesign()) return summary(*stop);
    if (auto stop = iterate()) return summary(*stop);
    if (asked_to_stop()) return summary(*asked_);
  }
}

std::optional<Stop> Run::settled_at_target() const {
  return Stop{StopReason::target_reached, "the first model at the target"};
}

/// Returns the stop that follows from the state alone, so that a resumed run decides alike.
std::optional<Stop> Run::finished() const {
  const IterationRecord& last = state_.history.back();
  if (at_target(last.rms)) {
    if (last.roughness == 0.0)
      return Stop{StopReason::target_reached, "the reference model itself is at the target"};
    const bool waits = hooks_.confirm && hooks_.redesign && state_.iteration < rules_.max_iterations;
    if (waits) return std::nullopt;
    if (auto stop = settled_at_target()) return stop;
  }
  if (state_.n_stagnated >= rules_.patience)
    return Stop{StopReason::stagnated,
                fmt::format("the rms fell by less than {:g} % in {} iterations in a row",
                            100.0 * rules_.min_rms_drop, state_.n_stagnated)};
  if (state_.iteration < rules_.max_iterations) return std::nullopt;
  if (at_target(last.rms))
    return Stop{StopReason::target_reached,
                "at the target when the iterations ran out; a smoother model may exist"};
  return Stop{StopReason::max_iterations, fmt::format("the rms is above the target {:g} after {} iterations",
                                                      target_rms(), state_.iteration)};
}

bool Run::asked_to_stop() {
  const auto reason = hooks_.stop ? hooks_.stop() : std::nullopt;
  const int code = team_.max(reason ? static_cast<int>(*reason) : -1);
  if (code < 0) return false;
  const auto agreed = static_cast<StopReason>(code);
  asked_ = Stop{agreed, fmt::format("stopped from outside ({})", core::word(agreed))};
  return true;
}

/// Passes the rows before that iteration, so that a resumed run gives the same arguments.
core::MapPtr Run::ask_for_redesign(const Eigen::VectorXd& model, int iteration) const {
  const auto n_before = std::ranges::count_if(
      state_.history, [&](const IterationRecord& row) { return row.iteration < iteration; });
  return hooks_.redesign(
      {model, iteration, std::span(state_.history).first(static_cast<std::size_t>(n_before))});
}

std::optional<Stop> Run::redesign() {
  redesigned_ = false;
  if (!hooks_.redesign) return std::nullopt;
  auto forward = ask_for_redesign(state_.model, state_.iteration + 1);
  if (!forward) return std::nullopt;
  redesigned_ = true;
  Objective next{std::move(forward), objective_.misfit, objective_.regularization};
  check(next, state_.model);
  linearization_.reset();
  on_redesign();
  std::swap(objective_, next);
  Candidate same{.model = state_.model};
  evaluate(same, linearization_);
  if (!same.failure.empty())
    return Stop{StopReason::failed, "the redesigned forward map has no responses: " + same.failure};
  core::log::info("iteration {}: meshes redesigned, rms {:.4f} on the old ones, {:.4f} on the new ones",
                  state_.iteration + 1, state_.history.back().rms, same.rms);
  predicted_ = std::move(same.predicted);
  state_.design_iteration = state_.iteration + 1;
  state_.design_model = state_.model;
  if (hooks_.confirm && at_target(state_.history.back().rms) && at_target(same.rms))
    return Stop{StopReason::target_reached, "at the target on the map redesigned for the model too"};
  return std::nullopt;
}

/// The weights of the roughness are those of the model now in the state.
void Run::reweigh() {
  if (!hooks_.reweigh) return;
  Objective next{objective_.forward, objective_.misfit, hooks_.reweigh(state_.model)};
  check(next, state_.model);
  objective_.regularization = std::move(next.regularization);
}

template <class Respond>
void Run::guarded(Candidate& candidate, Respond&& respond) {
  const bool is_trial = !state_.history.empty();
  try {
    respond();
  } catch (const core::SolverError& failure) {
    candidate.failure = failure.what();
  } catch (const core::InvalidArgument&
               failure) {  // a trial may ask for what no forward map can give, as 10^400 ohm m
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

void Run::evaluate(Candidate& candidate) {
  const core::ScopedTimer timer("inversion/forward");
  ++n_forward_;
  guarded(candidate, [&] { candidate.predicted = objective_.forward->value(candidate.model); });
}

void Run::evaluate(Candidate& candidate, std::unique_ptr<core::Linearization>& linearization) {
  const core::ScopedTimer timer("inversion/linearize");
  ++n_forward_;
  guarded(candidate, [&] {
    linearization = objective_.forward->linearize(candidate.model);
    candidate.predicted = linearization->value();
  });
  if (!candidate.failure.empty()) linearization.reset();
}

/// At the target the last trial of the largest λ is taken, above it the one with the lowest rms.
bool Run::is_likelier(const Candidate& candidate) const {
  if (!at_target(candidate.rms)) return candidate.rms < kept_.rms;
  return !at_target(kept_.rms) || candidate.lambda >= kept_.lambda;
}

void Run::evaluate_trial(Candidate& candidate) {
  if (redesigned_) return evaluate(candidate);  // and most likely again before the next iteration
  std::unique_ptr<core::Linearization> linearization;
  evaluate(candidate, linearization);
  if (linearization && is_likelier(candidate))
    kept_ = {candidate.model, candidate.rms, candidate.lambda, std::move(linearization)};
}

std::optional<Stop> Run::linearize() {
  std::string failure;
  if (!linearization_) {
    const core::ScopedTimer timer("inversion/linearize");
    try {
      linearization_ = objective_.forward->linearize(state_.model);
    } catch (const core::SolverError& error) {
      failure = error.what();
    }
  }
  if (team_.any(!failure.empty())) {
    linearization_.reset();
    return Stop{StopReason::failed, failure.empty() ? "the linearization failed on another rank" : failure};
  }
  rms_at_start_ = objective_.misfit.rms(linearization_->value());
  if (std::isfinite(rms_at_start_)) return std::nullopt;
  return Stop{StopReason::failed, "the linearized forward run gave a kept datum that is not finite"};
}

void Run::accept(Candidate& candidate, int n_stagnated) {
  const bool is_kept = kept_.linearization && kept_.model == candidate.model;
  linearization_ = is_kept ? std::move(kept_.linearization) : nullptr;
  kept_ = {};
  state_.n_stagnated = n_stagnated;
  state_.model = std::move(candidate.model);
  ++state_.iteration;
  record(candidate, rms_at_start_);
}

/// Adds the row of the model now in the state and tells the directives.
void Run::record(Candidate& candidate, double rms_at_start) {
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
                            .seconds = seconds_since(begin_),
                            .code_lambda = candidate.code_lambda});
  on_record();
  const IterationView view{state_.history.back(), state_.model, predicted_, state_};
  for (const auto& directive : hooks_.directives) directive->on_iteration(view);
}

void Run::progress(const std::string& what) const {
  for (const auto& directive : hooks_.directives) directive->on_progress(what);
}

InversionSummary Run::summary(const Stop& stop) const {
  InversionSummary summary{.reason = stop.reason,
                           .message = stop.message,
                           .model = state_.model,
                           .predicted = predicted_,
                           .target_rms = target_rms(),
                           .history = state_.history,
                           .design_model = state_.design_model};
  if (state_.history.empty()) return summary;
  summary.rms = state_.history.back().rms;
  summary.roughness = state_.history.back().roughness;
  summary.lambda = state_.history.back().lambda;
  return summary;
}

}  // namespace lodestone::inversion::optimize
