// SPDX-License-Identifier: Apache-2.0
#include "engine/core/machine.hpp"

#include <unistd.h>

namespace lodestone::core {

std::size_t machine_memory_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), page_bytes = ::sysconf(_SC_PAGE_SIZE);
  return pages > 0 && page_bytes > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page_bytes)
                                     : 0;
}

}  // namespace lodestone::core
