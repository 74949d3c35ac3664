// SPDX-License-Identifier: Apache-2.0
// Small on purpose: estimates and limits of memory need nothing else of the core.
#pragma once

#include <cstddef>

namespace lodestone::core {

/// The memory of this process in bytes: what it holds now, and the most that it has held. 0 where the system
/// does not tell.
struct ProcessMemory {
  double resident = 0.0, largest = 0.0;
};
[[nodiscard]] ProcessMemory process_memory();

/// Returns the bytes of memory that this machine has; 0: unknown.
[[nodiscard]] std::size_t machine_memory_bytes();

}  // namespace lodestone::core
