// SPDX-License-Identifier: Apache-2.0
#include "inversion/ending.hpp"

#include "engine/core/log.hpp"

#include <fmt/format.h>

#include <utility>

namespace lodestone::inversion {
namespace {

constexpr double allowed_excess =
    1.01;  // of the rms at the final accuracy over the target that the iterations reached

}  // namespace

std::string FinalRms::in_words() const {
  const std::string data = fmt::format("{:.4f}", of_data), other = fmt::format("{:.4f}", compared);
  return data == other ? data : fmt::format("{} of the data ({} {})", data, other, counting);
}

bool misses(double rms, double target) { return rms > allowed_excess * target; }

Ending judge(const optimize::InversionSummary& summary, const FinalRms& rms, double target,
             const std::string& remedy) {
  using enum core::ExitCode;
  using optimize::StopReason;
  const auto ended = [&](core::ExitCode code, const char* place, std::string text) {
    return Ending{code,        std::move(text), core::Place(place), summary.reason, summary.message,
                  rms.of_data, target};
  };
  if (summary.reason == StopReason::failed)
    return ended(solver, "inversion::judge#failed",
                 fmt::format("the inversion stopped: {}", summary.message));
  if (summary.reason != StopReason::target_reached)
    return ended(
        not_converged, "inversion::judge#above_target",
        fmt::format("not converged: rms {} at the final accuracy is above the target {:g} ({}); the results "
                    "are those of the last iteration",
                    rms.in_words(), target, summary.message));
  if (misses(rms.compared, target) && rms.after_last_steps)
    return ended(
        not_converged, "inversion::judge#last_steps_above_target",
        fmt::format("not converged: the last steps reached the target {:g} at the final accuracy, but "
                    "on the meshes designed for their model the rms {} is above it: the responses "
                    "depend on the mesh by that much; set forward.final_accuracy one step finer, or a "
                    "lower inversion.target_rms",
                    target, rms.in_words()));
  if (misses(rms.compared, target))
    return ended(not_converged, "inversion::judge#final_above_target",
                 fmt::format("not converged: the target {:g} was reached on the iterations' "
                             "meshes, but at the final accuracy the rms {} is "
                             "above it; {}",
                             target, rms.in_words(), remedy));
  return ended(ok, "inversion::judge#target_reached",
               fmt::format("done: rms {} at the final accuracy (target {:g}) after {} iterations; {}",
                           rms.in_words(), target, summary.history.back().iteration, summary.message));
}

std::optional<Bend> bend_of(std::span<const optimize::IterationRecord> history) {
  constexpr double least_share = 0.8, much_rougher = 4.0;
  if (history.empty()) return {};
  const optimize::IterationRecord& last = history.back();
  const optimize::IterationRecord* smoothest = nullptr;
  for (const optimize::IterationRecord& each : history.first(history.size() - 1)) {
    if (each.kind == optimize::StepKind::start || !(each.roughness > 0.0)) continue;
    if (!(last.rms > least_share * each.rms)) continue;
    if (smoothest == nullptr || each.roughness < smoothest->roughness) smoothest = &each;
  }
  if (smoothest == nullptr || !(last.roughness > much_rougher * smoothest->roughness)) return {};
  return Bend{smoothest->rms, smoothest->iteration, last.roughness / smoothest->roughness};
}

void warn_of_bend(const optimize::InversionSummary& summary, double target_rms) {
  const std::optional<Bend> bend = bend_of(summary.history);
  if (!bend) return;
  core::log::warning(core::log::Id("inversion::Inversion#target_too_low"),
                     "from iteration {} to the last one the roughness grew by a factor of {:.2g} while the "
                     "rms fell from {:.3f} "
                     "to {:.3f}: the target {:g} is lower than the data allow, and the last models fit their "
                     "noise. The curve "
                     "bends near rms {:.2f}; compare with a run with that target (inversion.target_rms)",
                     bend->iteration, bend->rougher, bend->rms, summary.history.back().rms, target_rms,
                     bend->rms);
}

}  // namespace lodestone::inversion
