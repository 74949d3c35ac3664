// SPDX-License-Identifier: Apache-2.0
#include "engine/core/process_memory.hpp"

#include <fstream>
#include <string>

namespace lodestone::core {

/// source: proc(5), /proc/self/status, whose numbers are in KiB.
ProcessMemory process_memory() {
  ProcessMemory memory;
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    double* const wanted = word == "VmRSS:" ? &memory.resident : word == "VmHWM:" ? &memory.largest : nullptr;
    if (wanted != nullptr && file >> *wanted) *wanted *= 1024.0;
  }
  return memory;
}

}  // namespace lodestone::core
