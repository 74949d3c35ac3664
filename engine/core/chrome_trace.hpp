// SPDX-License-Identifier: Apache-2.0
// Small on purpose: who writes events needs not know of the file.
#pragma once

#include "engine/core/timeline.hpp"

#include <functional>
#include <string>
#include <vector>

namespace lodestone::core {

/// Returns events as Chrome trace JSON (chrome://tracing, Perfetto): `pid` is the rank, `tid` the thread;
/// memory is a counter, and numbers of events have their names.
[[nodiscard]] std::string chrome_trace(const std::vector<Timeline::Thread>& threads, int rank);

/// Writes the events so far to a file, as a whole or not at all. errors: FileError.
void write_chrome_trace(const std::string& path, int rank);

/// Calls f while the `Timeline` records and then writes the trace of it, also if f fails: what it did until
/// then is what one wants to see. Rank 0 writes to the path itself, rank r to the path with ".r" added.
/// errors: those of f; FileError, before f is called where the file cannot be written or the disk is full.
void traced(const std::string& path, int rank, const std::function<void()>& f);

}  // namespace lodestone::core
