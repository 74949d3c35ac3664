// SPDX-License-Identifier: Apache-2.0
#include "inversion/optimize/step_search.hpp"

#include "engine/core/log.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <ranges>
#include <utility>
#include <vector>

namespace lodestone::inversion::optimize {
namespace {

constexpr double small_gain = 0.05;  // relative fall of rms below which a jump is not enough

}  // namespace

double automatic_lambda(const GaussNewtonSystem& system, double target_rms, double present_rms) {
  constexpr int most_decades = 12;
  constexpr double near_least = 0.1;  // of the fall from the present rms
  const double wanted = std::max(target_rms, 0.5 * present_rms);
  double lambda = system.scale() > 0.0 ? system.scale() : 1.0;
  std::vector<std::pair<double, double>> tried;  // λ and its linearized rms
  for (int i = 0; i <= most_decades; ++i, lambda *= 0.1) {
    const double rms = system.linear_rms(lambda);
    if (!(rms > wanted)) return lambda;
    tried.emplace_back(lambda, rms);
  }
  // No step can fit so much. Below the λ where the rms stops falling, models are rough for nothing.
  const double least = std::ranges::min(tried | std::views::values);
  const auto enough = std::ranges::find_if(tried, [&](const auto& each) {
    return each.second <= least + near_least * std::max(0.0, present_rms - least);
  });
  return enough->first;
}

StepSearch::StepSearch(const GaussNewtonOptions& options, const GaussNewtonSystem& system,
                       const objective::Regularization& regularization, Present present,
                       StepServices services)
    : options_(options),
      rule_(std::get<Occam>(options.lambda)),
      system_(system),
      regularization_(regularization),
      present_(present),
      services_(std::move(services)) {}

std::variant<Candidate, Stop> StepSearch::run() {
  if (at_target(present_.rms)) return run_at_target();
  std::optional<Best> creep;
  if (present_.creep_lambda > 0.0) {
    creep = search(StepKind::creep, present_.creep_lambda);
    if (creep->target_reached || falls_by(options_.stop.min_rms_drop, creep->candidate))
      return std::move(creep->candidate);
  }
  Best jump = search(StepKind::jump, first_lambda());
  if (jump.target_reached || falls_by(small_gain, jump.candidate)) return std::move(jump.candidate);
  if (!present_.may_creep && is_better(jump.candidate)) return std::move(jump.candidate);
  if (!present_.may_creep) return shorten(jump.candidate);
  if (!creep) creep = search(StepKind::creep, jump.candidate.lambda);
  Candidate& best = creep->candidate.rms < jump.candidate.rms ? creep->candidate : jump.candidate;
  if (falls_by(options_.stop.min_rms_drop, best)) return std::move(best);
  return shorten(is_better(best) ? best : jump.candidate);
}

std::variant<Candidate, Stop> StepSearch::run_at_target() {
  Best jump = search(StepKind::jump, first_lambda());
  if (is_better(jump.candidate)) return std::move(jump.candidate);
  if (jump.target_reached) return Stop{StopReason::target_reached, "no model at the target is smoother"};
  return shorten(jump.candidate);
}

StepSearch::Best StepSearch::search(StepKind kind, double lambda_start) {
  std::vector<Candidate> trials;
  const auto rms_of = [&](double lambda) {
    trials.push_back(trial(kind, lambda));
    services_.progress(fmt::format("{} {}/{} lambda {:.2e} rms {:.3f}", core::word(kind), trials.size(),
                                   rule_.max_trials, lambda, trials.back().rms));
    return trials.back().rms;
  };
  const LambdaSearchResult found = search_lambda(
      rms_of, lambda_start,
      {.target_rms = present_.target_rms,
       .current_rms = present_.rms,
       .sufficient_rms = (1.0 - rule_.sufficient_drop) * present_.rms,
       .first_step = std::log10(rule_.factor),
       .tolerance = rule_.tolerance,
       .max_trials = rule_.max_trials,
       .any_at_target = !rule_.smooth_at_target,
       .suffices = [&](std::size_t i) { return kind == StepKind::creep && is_as_smooth(trials[i]); }});
  return {std::move(trials[found.best]), found.target_reached};
}

Candidate StepSearch::trial(StepKind kind, double lambda) {
  Candidate candidate{.kind = kind, .lambda = lambda};
  auto model = kind == StepKind::creep ? system_.creep(lambda) : system_.jump(lambda);
  if (!model) {
    candidate.failure = "the normal equations are not positive definite";
    return candidate;
  }
  candidate.model = std::move(*model);
  services_.evaluate(candidate);
  if (!candidate.failure.empty())
    core::log::debug("trial at lambda {:.3e} rejected: {}", lambda, candidate.failure);
  return candidate;
}

/// Halves the step towards a trial that did not help: to the lowest rms or, at the target, to the first model
/// that is smoother and still there.
std::variant<Candidate, Stop> StepSearch::shorten(const Candidate& full) {
  std::optional<Candidate> best;
  std::string failure = full.failure;
  double share = 1.0;
  for (int i = 1; i <= options_.max_halvings && full.model.size() > 0; ++i) {
    share *= 0.5;
    Candidate shorter{.model = present_.model + share * (full.model - present_.model),
                      .kind = full.kind,
                      .lambda = full.lambda,
                      .step = share};
    services_.evaluate(shorter);
    services_.progress(fmt::format("step {:.3f} rms {:.3f}", shorter.step, shorter.rms));
    if (shorter.failure.empty()) failure.clear();
    if (is_better(shorter) && (!best || shorter.rms < best->rms))
      best = std::move(shorter);
    else if (best)
      break;
    if (best && at_target(present_.rms)) break;
  }
  if (best) return std::move(*best);
  if (at_target(present_.rms))
    return Stop{StopReason::target_reached, "no smoother model at the target was found"};
  if (!failure.empty()) return Stop{StopReason::failed, "every trial failed; one of them: " + failure};
  return Stop{StopReason::stagnated, "no lambda and no shorter step lowers the rms"};
}

double StepSearch::first_lambda() const {
  return present_.jump_lambda > 0.0 ? present_.jump_lambda
                                    : automatic_lambda(system_, present_.target_rms, present_.rms);
}

/// Tests for a lower rms above the target; at the target, smoother and still there.
bool StepSearch::is_better(const Candidate& candidate) const {
  if (!at_target(present_.rms)) return candidate.rms < present_.rms;
  return at_target(candidate.rms) &&
         regularization_.cost(candidate.model) < regularization_.cost(present_.model);
}

/// All that a larger λ of a creeping step could save is what the step adds to the roughness.
bool StepSearch::is_as_smooth(const Candidate& candidate) const {
  return regularization_.cost(candidate.model) <=
         (1.0 + rule_.min_roughness_drop) * regularization_.cost(present_.model);
}

}  // namespace lodestone::inversion::optimize
