// SPDX-License-Identifier: Apache-2.0
#include "inversion/ending.hpp"

#include <fmt/format.h>

#include <utility>

namespace lodestone::inversion {
namespace {

constexpr double allowed_excess =
    1.01;  // of the rms at the final accuracy over the target that the iterations reached

}  // namespace

Ending judge(const optimize::InversionSummary& summary, double rms, double target,
             const std::string& remedy) {
  using enum core::ExitCode;
  using optimize::StopReason;
  const auto ended = [&](core::ExitCode code, const char* place, std::string text) {
    return Ending{code, std::move(text), core::Place(place), summary.reason, summary.message, rms, target};
  };
  if (summary.reason == StopReason::failed)
    return ended(solver, "inversion::judge#failed",
                 fmt::format("the inversion stopped: {}", summary.message));
  if (summary.reason != StopReason::target_reached)
    return ended(not_converged, "inversion::judge#above_target",
                 fmt::format("not converged: rms {:.4f} is above the target {:g} ({}); the results "
                             "are those of the last iteration",
                             rms, target, summary.message));
  if (rms > allowed_excess * target)
    return ended(not_converged, "inversion::judge#final_above_target",
                 fmt::format("not converged: the target {:g} was reached on the iterations' "
                             "meshes, but at the final accuracy the rms {:.4f} is "
                             "above it; {}",
                             target, rms, remedy));
  return ended(ok, "inversion::judge#target_reached",
               fmt::format("done: rms {:.4f} (target {:g}) after {} iterations; {}", rms, target,
                           summary.history.back().iteration, summary.message));
}

}  // namespace lodestone::inversion
