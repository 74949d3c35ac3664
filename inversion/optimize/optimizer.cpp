// SPDX-License-Identifier: Apache-2.0
#include "inversion/optimize/optimizer.hpp"

#include "engine/core/error.hpp"
#include "inversion/optimize/run.hpp"

#include <fmt/format.h>

#include <utility>

namespace lodestone::inversion::optimize {

InversionSummary Optimizer::minimize(Objective objective, Eigen::VectorXd start, Hooks hooks) const {
  check(objective, start);
  const RunSettings settings{comm_, std::move(hooks)};
  return make_run(settings, std::move(objective))->begin(std::move(start));
}

InversionSummary Optimizer::resume(Objective objective, InversionState state, Hooks hooks) const {
  if (!state.origin.empty() && objective.forward && state.model.size() != objective.forward->size_in())
    throw core::FormatError(
        "inversion::Optimizer#other_state",
        "{}: expected a state of {} unknowns, got {}; the checkpoint is damaged: start the "
        "run anew",
        state.origin, objective.forward->size_in(), state.model.size());
  check(objective, state.model);
  if (state.history.empty())
    throw core::InvalidArgument("inversion::Optimizer#no_history",
                                "the saved state has no history; start a new run");
  const RunSettings settings{comm_, std::move(hooks)};
  return make_run(settings, std::move(objective))->resume(std::move(state));
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
