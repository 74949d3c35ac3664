// SPDX-License-Identifier: Apache-2.0
// Small on purpose: users of ranks need not see how threads meet.
#pragma once

#include "engine/dist/transport/transport.hpp"

#include <functional>

namespace lodestone::engine {

/// Runs f on n threads, each of which is a rank, and returns when all have ended.
///
/// Elements are copied from sender to receiver directly. When a rank throws, those that wait for others throw
/// the same, and it is thrown here. Ranks that all wait, also for one that has ended, throw as well. Threads
/// start with the default device of the caller; `core::set_threads` must not be called by f. errors:
/// InvalidArgument for n below 1 and for a standstill; those of f.
void run_ranks(int n, const std::function<void(const World&)>& f);

/// Returns the world of a single rank, which is the calling thread.
[[nodiscard]] World lone_rank();

}  // namespace lodestone::engine
