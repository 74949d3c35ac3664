// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one number of the whole program.
#pragma once

#include <cstdint>

namespace lodestone::tests {

/// Returns how often the program has called `operator new`, on any thread. A program that asks has that
/// operator replaced.
[[nodiscard]] std::int64_t n_allocations();

}  // namespace lodestone::tests
