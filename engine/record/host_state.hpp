// SPDX-License-Identifier: Apache-2.0
// Small on purpose: whoever keeps such state tells, whoever keeps recorded functions asks.
// State of the program beside tensors that decides which ops a function records, such as the mode of a
// module.
#pragma once

#include <cstdint>

namespace lodestone::engine {

/// Returns a number that is another one after every change of such state, on any thread.
[[nodiscard]] std::uint64_t host_state();
/// Tells that such state has changed: functions that were recorded before may record other ops now.
void note_host_state_change();

}  // namespace lodestone::engine
