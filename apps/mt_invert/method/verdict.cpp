// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/method/verdict.hpp"

#include <fmt/format.h>

namespace lodestone::mt_invert::method {
namespace {

constexpr double allowed_excess =
    1.01;  // of the rms at the final accuracy over the target that the iterations reached

}  // namespace

std::string_view way_to_agree(const config::ForwardConfig& forward) {
  if (forward.iteration < forward.final_accuracy)
    return forward.iteration == physics::mt::d2::Accuracy::iteration
               ? "set forward.iteration_accuracy = \"standard\""
               : "set forward.iteration_accuracy = \"fine\"";
  return forward.redesign != config::Redesigning::each_iteration
             ? "what differs is the mesh redesigned for the final model; set forward.redesign = "
               "\"each_iteration\""
             : "forward.iteration_accuracy is no coarser than final_accuracy: what differs is the mesh "
               "redesigned for the final model; set "
               "both one step finer";
}

Verdict judge(const inversion::optimize::InversionSummary& summary, double rms, double target,
              const config::ForwardConfig& forward) {
  using enum core::ExitCode;
  using inversion::optimize::StopReason;
  if (summary.reason == StopReason::failed)
    return {solver, fmt::format("the inversion stopped: {}", summary.message)};
  if (summary.reason != StopReason::target_reached)
    return {not_converged, fmt::format("not converged: rms {:.4f} is above the target {:g} ({}); the results "
                                       "are those of the last iteration",
                                       rms, target, summary.message)};
  if (rms > allowed_excess * target)
    return {not_converged, fmt::format("not converged: the target {:g} was reached on the iterations' "
                                       "meshes, but at the final accuracy the rms {:.4f} is "
                                       "above it; {}",
                                       target, rms, way_to_agree(forward))};
  return {ok, fmt::format("done: rms {:.4f} (target {:g}) after {} iterations; {}", rms, target,
                          summary.history.back().iteration, summary.message)};
}

}  // namespace lodestone::mt_invert::method
