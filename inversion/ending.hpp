// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/error.hpp"
#include "engine/core/mpi/stop_requests.hpp"
#include "inversion/optimize/optimizer.hpp"

#include <optional>
#include <span>
#include <string>
#include <utility>

namespace lodestone::inversion {

/// The end of a run: why it ended, how well it fits, and the exit code of the contract
/// (docs/command-line.md). `text` is the last line; tests and JSON logs compare its id, `place`.
struct Ending {
  core::ExitCode code = core::ExitCode::ok;
  std::string text{};
  core::Place place{};  ///< a view of a literal, "inversion::judge#target_reached"
  optimize::StopReason reason = optimize::StopReason::failed;  ///< end of the last stage
  std::string message{};                                       ///< one sentence, with the cause of a failure
  double rms = 0.0;  ///< at the final accuracy; in an `Outcome` of the used data alone, as they are
  double target_rms = 1.0;
};

/// The misfit of the final model at the final accuracy: `of_data` is the rms of a run in its last line, its
/// report and its files. `compared`: with the target, where the iterations count otherwise, as `counting`
/// states.
struct FinalRms {
  double of_data, compared;
  std::string counting{};         ///< "with further unknowns", "by Huber's norm"
  bool after_last_steps = false;  ///< the run took steps at the final accuracy
  FinalRms(double rms) : of_data(rms), compared(rms) {}
  FinalRms(double data, double to_target, std::string how, bool last_steps = false)
      : of_data(data), compared(to_target), counting(std::move(how)), after_last_steps(last_steps) {}
  /// Returns one number, or both with their names where they differ.
  [[nodiscard]] std::string in_words() const;
};

/// Returns true if a target that the iterations reached is missed at the final accuracy: by more than 1 %.
[[nodiscard]] bool misses(double rms, double target);

/// Judges a run. `rms`: at the final accuracy; where `misses` a target that the iterations reached, `remedy`
/// states what to set. The code is `solver` when the
/// inversion failed. The ending holds the reason and message of the summary, which has at least the start
/// model, and both numbers.
[[nodiscard]] Ending judge(const optimize::InversionSummary& summary, const FinalRms& rms, double target,
                           const std::string& remedy);

/// The bend of the curve of roughness over rms, behind which a run bought little fit with much roughness.
struct Bend {
  double rms = 0.0;    ///< rms of the smoothest model that fits nearly as well as the last one
  int iteration = 0;   ///< number of this model
  double rougher = 1;  ///< roughness of the last model over its own
};
/// Returns the bend before the last model, if there is one. It is the smoothest earlier model whose rms is
/// less than 25 % above that of the last one. The last model must be more than four times as rough. The start
/// model does not count. `history`: the rows of one stage.
[[nodiscard]] std::optional<Bend> bend_of(std::span<const optimize::IterationRecord> history);
/// Logs a warning with the rms at the bend, if there is one.
void warn_of_bend(const optimize::InversionSummary& summary, double target_rms);

/// Returns the reason for which a request from outside stops a run, if there is one.
[[nodiscard]] inline std::optional<optimize::StopReason> reason_of(std::optional<core::StopRequest> request) {
  if (!request) return {};
  return *request == core::StopRequest::interrupted ? optimize::StopReason::interrupted
                                                    : optimize::StopReason::time_limit;
}

/// Returns true if a run was stopped from outside and can be resumed.
[[nodiscard]] inline bool was_stopped(const optimize::InversionSummary& summary) {
  return summary.reason == optimize::StopReason::interrupted ||
         summary.reason == optimize::StopReason::time_limit;
}

}  // namespace lodestone::inversion
