// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/error.hpp"
#include "engine/core/mpi/stop_requests.hpp"
#include "inversion/optimize/optimizer.hpp"

#include <optional>
#include <string>

namespace lodestone::inversion {

/// The end of a run: the exit code of the contract (docs/command-line.md) and the text of the last line.
struct Ending {
  core::ExitCode code = core::ExitCode::ok;
  std::string text{};
};

/// Judges a run. `rms`: at the final accuracy, of what the iterations compared with `target`; a target that
/// they reached may be missed there by 1 %, else `remedy` states what to set. The code is `solver` when the
/// inversion failed. The summary holds at least the start model.
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
