// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/error.hpp"
#include "engine/core/mpi/stop_requests.hpp"
#include "inversion/optimize/optimizer.hpp"

#include <optional>
#include <string>

namespace lodestone::inversion {

/// The end of a run: why it ended and how well it fits, the exit code of the contract (docs/command-line.md),
/// the text of the last line and its id, which tests and JSON logs compare.
struct Ending {
  core::ExitCode code = core::ExitCode::ok;
  std::string text{};
  core::Place place{};  ///< a view of a literal, "inversion::judge#target_reached"
  optimize::StopReason reason = optimize::StopReason::failed;  ///< end of the last stage
  std::string message{};                                       ///< one sentence, with the cause of a failure
  double rms = 0.0;  ///< at the final accuracy; in an `Outcome` of the used data alone, as they are
  double target_rms = 1.0;
};

/// Judges a run. `rms`: at the final accuracy, of what the iterations compared with `target`; a target that
/// they reached may be missed there by 1 %, else `remedy` states what to set. The code is `solver` when the
/// inversion failed. The ending holds the reason and message of the summary, which has at least the start
/// model, and both numbers.
[[nodiscard]] Ending judge(const optimize::InversionSummary& summary, double rms, double target,
                           const std::string& remedy);

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
