// SPDX-License-Identifier: Apache-2.0
#include "inversion/optimize/optimizer.hpp"

#include "engine/core/error.hpp"
#include "inversion/optimize/run.hpp"

#include <fmt/format.h>

#include <utility>

namespace lodestone::inversion::optimize {

void Optimizer::add(std::shared_ptr<Directive> directive) {
  settings_.directives.push_back(std::move(directive));
}
void Optimizer::set_redesign(Redesign redesign) { settings_.redesign = std::move(redesign); }
void Optimizer::set_reweigh(objective::Reweigh reweigh) { settings_.reweigh = std::move(reweigh); }
void Optimizer::set_stop(std::function<std::optional<StopReason>()> stop) {
  settings_.stop = std::move(stop);
}

InversionSummary Optimizer::minimize(Objective objective, Eigen::VectorXd start) {
  check(objective, start);
  return make_run(std::move(objective))->begin(std::move(start));
}

InversionSummary Optimizer::resume(Objective objective, InversionState state) {
  check(objective, state.model);
  if (state.history.empty())
    throw core::InvalidArgument("inversion::Optimizer#no_history",
                                "the saved state has no history; start a new run");
  return make_run(std::move(objective))->resume(std::move(state));
}

std::string InversionSummary::brief() const {
  int n_forward = 0, n_jacobian = 0;
  double seconds = 0.0;
  for (const IterationRecord& row : history) {
    n_forward += row.n_forward;
    n_jacobian += row.n_jacobian;
    seconds += row.seconds;
  }
  if (history.empty()) return fmt::format("{}: {}", core::word(reason), message);
  return fmt::format(
      "{} after {} iterations ({}): rms {:.4f}, roughness {:.4e}, lambda {:.3e}; {} forward runs, {} "
      "Jacobians, {:.1f} s",
      core::word(reason), history.back().iteration, message, rms, roughness, lambda, n_forward, n_jacobian,
      seconds);
}

}  // namespace lodestone::inversion::optimize
