// SPDX-License-Identifier: Apache-2.0
// Small on purpose: estimates and limits of memory need nothing else of the core.
#pragma once

namespace lodestone::core {

/// The memory of this process in bytes: what it holds now, and the most that it has held. 0 where the system
/// does not tell.
struct ProcessMemory {
  double resident = 0.0, largest = 0.0;
};
[[nodiscard]] ProcessMemory process_memory();

}  // namespace lodestone::core
