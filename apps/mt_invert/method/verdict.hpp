// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/config/config.hpp"
#include "engine/core/error.hpp"
#include "inversion/optimize/optimizer.hpp"

#include <string>
#include <string_view>

namespace lodestone::mt_invert::method {

/// How a run ended: the exit code of the contract (docs/command-line.md) and what the last line says.
struct Verdict {
  core::ExitCode code;
  std::string text;
};

/// `rms`: at the final accuracy, of what the iterations compared with `target`. A target that they reached
/// may be missed there by 1 %. `solver`: the inversion failed. The summary holds at least the start model.
[[nodiscard]] Verdict judge(const inversion::optimize::InversionSummary& summary, double rms, double target,
                            const config::ForwardConfig& forward);

/// What to set so that the iterations see the responses of the final meshes.
[[nodiscard]] std::string_view way_to_agree(const config::ForwardConfig& forward);

}  // namespace lodestone::mt_invert::method
