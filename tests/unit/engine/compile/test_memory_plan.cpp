// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/memory_plan.hpp"
#include "engine/core/error.hpp"
#include "engine/core/random.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;

namespace {

/// Two that live at once, one in the gap that the first leaves, one in place of that, and a workspace.
const std::vector<Piece> pieces{{64, 0, 1}, {100, 1, 4}, {40, 2, 3}, {40, 3, 4, 2}, {8, 4, 4}};

core::Error error_after(std::vector<Piece> changed, const MemoryPlan& plan) {
  return error_of<core::InvalidArgument>([&] { verify(changed, plan); });
}

}  // namespace

TEST_CASE("memory plan: each piece lies at the first gap, or in place of another", "[engine]") {
  const MemoryPlan plan = placed(pieces);
  CHECK(plan.offsets == std::vector<std::size_t>{0, 64, 0, 0, 192});
  CHECK(plan.bytes == 256);
  CHECK_NOTHROW(verify(pieces, plan));
  CHECK(placed({}).bytes == 0);
}

TEST_CASE("memory plan: random pieces do not overlap, and no block is larger than all pieces", "[engine]") {
  const core::Philox random(3);
  std::uint64_t next = 0;
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random.uniform(next++) * n); };
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<Piece> some;
    std::size_t all = 0;
    for (std::uint32_t i = 0; i < 200; ++i) {
      some.push_back({below(5000), i / 2, i / 2 + below(20)});
      all += some.back().bytes + MemoryPlan::alignment;
    }
    const MemoryPlan plan = placed(some);
    CHECK_NOTHROW(verify(some, plan));
    CHECK(plan.bytes < all / 3);
  }
}

TEST_CASE("memory plan: planted faults are found", "[engine]") {
  const MemoryPlan right = placed(pieces);
  const auto moved = [&](std::size_t piece, std::size_t offset) {
    MemoryPlan plan = right;
    plan.offsets[piece] = offset;
    return error_of<core::InvalidArgument>([&] { verify(pieces, plan); });
  };
  CHECK_THAT(moved(1, 0), HasId("overlap", {"0", "1"}));
  CHECK_THAT(moved(4, 64), HasId("overlap", {"1", "4"}));
  CHECK_THAT(moved(4, 128), HasId("overlap", {"1", "4"}));
  CHECK_THAT(moved(4, 0), HasId("overlap", {"3", "4"}));
  CHECK_THAT(moved(4, 200), HasId("wrong_place", {"4", "200"}));
  CHECK_THAT(moved(4, 256), HasId("wrong_place", {"4", "256"}));
  CHECK_THAT(moved(3, 192), HasId("not_in_place", {"2", "3"}));
  MemoryPlan shorter = right;
  shorter.offsets.pop_back();
  CHECK_THAT(error_after(pieces, shorter), HasId("wrong_count"));
  std::vector<Piece> changed = pieces;
  changed[0].last = 2;  // used once more, when its place is given away
  CHECK_THAT(error_after(changed, right), HasId("overlap", {"0", "2"}));
  changed = pieces;
  changed[2].last = 4;  // used once more, when it has been written over
  CHECK_THAT(error_after(changed, right), HasId("not_in_place"));
  changed = pieces;
  changed[3].in_place_of = Piece::none;
  CHECK_THAT(error_after(changed, right), HasId("overlap", {"2", "3"}));
  changed = pieces;
  changed[3].bytes = 48;
  CHECK_THAT(error_after(changed, right), HasId("not_in_place"));
  changed = pieces;
  std::swap(changed[0], changed[4]);
  CHECK_THAT(error_after(changed, right), HasId("wrong_order"));
}
