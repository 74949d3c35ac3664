// SPDX-License-Identifier: Apache-2.0
#include "inversion/optimize/cooling.hpp"

#include <fmt/format.h>

#include <utility>

namespace lodestone::inversion::optimize {

CoolingStep::CoolingStep(const GaussNewtonOptions& options, const GaussNewtonSystem& system,
                         const Objective& objective, Present present, StepServices services)
    : options_(options),
      rule_(std::get<Cooling>(options.lambda)),
      system_(system),
      objective_(objective),
      present_(present),
      services_(std::move(services)) {}

std::variant<Candidate, Stop> CoolingStep::run() {
  constexpr int n_lambdas = 4;  // an objective that falls at none of them is at its minimum
  double lambda = next_lambda();
  for (int i = 0; i < n_lambdas; ++i, lambda /= rule_.factor) {
    if (auto candidate = shorten(lambda)) return std::move(*candidate);
  }
  if (!any_good_) return Stop{StopReason::failed, "every trial failed; one of them: " + failure_};
  return Stop{StopReason::stagnated, "no step lowers the objective, at this lambda or at smaller ones"};
}

/// Returns λ of the last iteration until `rate` iterations had it, then smaller by `factor`.
double CoolingStep::next_lambda() const {
  const auto& history = present_.history;
  if (history.size() <= 1)
    return present_.lambda > 0.0 ? present_.lambda
                                 : automatic_lambda(system_, options_.stop.target_rms, present_.rms);
  int n_same = 0;
  for (auto row = history.rbegin();
       row != history.rend() && row->kind != StepKind::start && row->lambda == present_.lambda; ++row)
    ++n_same;
  return n_same >= rule_.rate ? present_.lambda / rule_.factor : present_.lambda;
}

/// Returns the jump, or the first of its halves that lowers the objective.
std::optional<Candidate> CoolingStep::shorten(double lambda) {
  const auto full = system_.jump(lambda);
  if (!full) {
    failure_ = "the normal equations are not positive definite";
    return std::nullopt;
  }
  const double present = objective_of(present_.rms, present_.model, lambda);
  double share = 1.0;
  for (int i = 0; i <= options_.max_halvings; ++i, share *= 0.5) {
    Candidate candidate{
        .model = present_.model + share * (*full - present_.model), .lambda = lambda, .step = share};
    services_.evaluate(candidate);
    services_.progress(fmt::format("lambda {:.2e} step {:.3f} rms {:.3f}", lambda, share, candidate.rms));
    if (!candidate.failure.empty()) failure_ = candidate.failure;
    any_good_ = any_good_ || candidate.failure.empty();
    if (candidate.failure.empty() && objective_of(candidate.rms, candidate.model, lambda) < present)
      return candidate;
  }
  return std::nullopt;
}

bool CoolingStep::is_lambda_too_large(double lambda) const {
  const double small_enough = (1.0 - options_.stop.min_rms_drop) * present_.rms;
  return system_.linear_rms(lambda) > small_enough && system_.linear_rms(1e-6 * lambda) <= small_enough;
}

double CoolingStep::objective_of(double rms, const Eigen::VectorXd& model, double lambda) const {
  return static_cast<double>(objective_.misfit.n_kept()) * rms * rms +
         lambda * objective_.regularization->cost(model);
}

}  // namespace lodestone::inversion::optimize
