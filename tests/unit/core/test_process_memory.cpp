// SPDX-License-Identifier: Apache-2.0
#include "engine/core/process_memory.hpp"
#include "tests/support/catch.hpp"

#include <vector>

using namespace lodestone;

TEST_CASE("process memory: what is held grows with what is written, the largest stays", "[core]") {
  constexpr std::size_t bytes = 64 << 20;
  const core::ProcessMemory before = core::process_memory();
  REQUIRE(before.resident > 0.0);
  core::ProcessMemory during;
  {
    const std::vector<char> block(bytes, 1);
    REQUIRE(block[bytes / 2] == 1);
    during = core::process_memory();
  }
  const core::ProcessMemory after = core::process_memory();
  CHECK(during.resident > before.resident + 0.9 * bytes);
  CHECK(after.largest > 0.95 * during.resident);  // the system counts in batches of pages
  CHECK(after.resident < after.largest);
}
