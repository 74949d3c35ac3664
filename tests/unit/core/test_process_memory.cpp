// SPDX-License-Identifier: Apache-2.0
#include "engine/core/process_memory.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <sys/mman.h>

using namespace lodestone;

namespace {

/// Memory straight from the system, to which it goes back: a sanitizer's allocator keeps what is freed.
class Pages {
 public:
  explicit Pages(std::size_t bytes)
      : bytes_(bytes),
        data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    REQUIRE(data_ != MAP_FAILED);
    std::fill_n(static_cast<char*>(data_), bytes, char{1});
  }
  ~Pages() { munmap(data_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

 private:
  std::size_t bytes_;
  void* data_;
};

}  // namespace

TEST_CASE("process memory: what is held grows with what is written, the largest stays", "[core]") {
  constexpr std::size_t bytes = 64 << 20;
  const core::ProcessMemory before = core::process_memory();
  REQUIRE(before.resident > 0.0);
  core::ProcessMemory during;
  {
    const Pages pages(bytes);
    during = core::process_memory();
  }
  const core::ProcessMemory after = core::process_memory();
  CHECK(during.resident > before.resident + 0.9 * bytes);
  CHECK(after.largest > 0.95 * during.resident);  // the system counts in batches of pages
  CHECK(after.resident < during.resident - 0.9 * bytes);
}
