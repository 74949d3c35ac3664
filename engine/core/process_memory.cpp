// SPDX-License-Identifier: Apache-2.0
#include "engine/core/process_memory.hpp"

#include <fstream>
#include <string>
#include <unistd.h>

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

std::size_t machine_memory_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), page_bytes = ::sysconf(_SC_PAGE_SIZE);
  return pages > 0 && page_bytes > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page_bytes)
                                     : 0;
}

}  // namespace lodestone::core
