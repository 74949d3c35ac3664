// SPDX-License-Identifier: Apache-2.0
// The memory of a device, by an arena of its own; sizes are those of size classes: 1, 5/4, 3/2, 7/4 times a
// power of two.
#include "engine/core/error.hpp"
#include "engine/core/process_memory.hpp"
#include "engine/memory/arena.hpp"
#include "engine/ops/ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <cstring>
#include <limits>
#include <malloc.h>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;

namespace {

constexpr std::size_t block = 1 << 16;

std::size_t total_of(const Arena& arena) { return arena.stats().in_use + arena.stats().cached; }

/// Requests blocks of these sizes and gives them back.
void use(Arena& arena, std::initializer_list<std::size_t> sizes) {
  std::vector<std::pair<std::byte*, std::size_t>> blocks;
  for (const std::size_t bytes : sizes) blocks.emplace_back(arena.allocate(bytes), bytes);
  for (const auto& [data, bytes] : blocks) arena.free(data, bytes);
}

}  // namespace

TEST_CASE("arena: a block that was given back is handed out again", "[engine]") {
  Arena arena(cpu);
  std::byte* first = arena.allocate(block);
  arena.free(first, block);
  CHECK(arena.stats().cached == block);
  std::byte* second = arena.allocate(block - 1);
  CHECK(second == first);
  CHECK(arena.stats().cached == 0);
  CHECK(arena.stats().in_use == block);
  arena.free(second, block - 1);
  arena.trim();
  CHECK(total_of(arena) == 0);
}

#ifndef __SANITIZE_ADDRESS__
TEST_CASE("arena: what is trimmed goes back to the system, even where the heap keeps what is freed",
          "[engine]") {
  mallopt(M_MMAP_MAX, 0);  // as core::Session does
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  constexpr std::size_t bytes = std::size_t{200} << 20;
  Arena arena(cpu);
  std::byte* const used = arena.allocate(bytes);
  std::memset(used, 1, bytes);
  const double before = core::process_memory().resident;
  arena.free(used, bytes);
  arena.trim();
  CHECK(core::process_memory().resident < before - 0.9 * static_cast<double>(bytes));
}
#endif

TEST_CASE("arena: a request past the budget names the tensor", "[engine]") {
  const Device second{Device::Kind::cpu, 1};
  Arena::of(second).set_budget(1 << 16);
  const Tensor big = full({1 << 20}, 1.0, DType::f64, second) + 1.0;
  CHECK_THAT(error_of<core::DeviceError>([&] { static_cast<void>(big.eval()); }),
             HasId("over_budget", {"cpu:1", big.aval().text(), "add"}));
  Arena::of(second).set_budget(0);
  CHECK(big.to_vector<double>()[0] == 2.0);
}

TEST_CASE("arena: cached blocks count towards the budget and make room before a request is refused",
          "[engine]") {
  Arena arena(cpu);
  arena.set_budget(4 * block);
  use(arena, {3 * block});
  CHECK(arena.stats().cached == 3 * block);
  std::byte* two = arena.allocate(2 * block);  // another size class
  CHECK(total_of(arena) <= 4 * block);
  CHECK(arena.stats().in_use == 2 * block);
  CHECK_THAT(error_of<core::DeviceError>([&] { static_cast<void>(arena.allocate(3 * block)); }),
             HasId("over_budget", {"cpu:0", std::to_string(4 * block), std::to_string(3 * block),
                                   std::to_string(2 * block)}));
  arena.free(two, 2 * block);
  arena.hold(4 * block);  // memory that others allocated
  CHECK(total_of(arena) == 4 * block);
  arena.release(4 * block);
}

TEST_CASE("arena: only as much of the cache is given back as the budget needs, the largest blocks first",
          "[engine]") {
  Arena arena(cpu);
  arena.set_budget(8 * block);
  use(arena, {block, block, 4 * block});
  CHECK(arena.stats().cached == 6 * block);
  use(arena, {3 * block});
  CHECK(total_of(arena) == 5 * block);
  arena.set_budget(2 * block);  // a lower one holds at once
  CHECK(total_of(arena) == 2 * block);
}

TEST_CASE("arena: the cache stays within its limit, which is a quarter of the machine's memory at first",
          "[engine]") {
  Arena arena(cpu);
  CHECK(arena.cache_limit() == core::machine_memory_bytes() / 4);
  CHECK(arena.cache_limit() > (std::size_t{1} << 26));
  arena.set_cache_limit(3 * block);
  use(arena, {block, 2 * block, block});
  CHECK(arena.stats().cached <= 3 * block);
  CHECK(arena.stats().cached > 0);
  use(arena, {4 * block});  // does not fit at all
  CHECK(arena.stats().cached <= 3 * block);
  arena.set_cache_limit(0);
  CHECK(arena.stats().cached == 0);
  use(arena, {block});
  CHECK(total_of(arena) == 0);
}
