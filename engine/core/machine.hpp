// SPDX-License-Identifier: Apache-2.0
// Small on purpose: what decides on memory needs no more of the machine.
#pragma once

#include <cstddef>

namespace lodestone::core {

/// Returns the bytes of memory that this machine has; 0: unknown.
[[nodiscard]] std::size_t machine_memory_bytes();

}  // namespace lodestone::core
