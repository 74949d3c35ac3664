// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/random.hpp"
#include "engine/memory/memory_plan.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <algorithm>
#include <numeric>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;

namespace {

/// Two that live at once, one in the gap that the first leaves, one in place of that, and a workspace.
const std::vector<Piece> pieces{{64, 0, 1}, {100, 1, 4}, {40, 2, 3}, {40, 3, 4, 2}, {8, 4, 4}};

class RandomPieces {
 public:
  explicit RandomPieces(std::uint64_t seed) : random_(seed) {}
  [[nodiscard]] std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(random_.uniform(next_++) * n);
  }
  /// Returns pieces of 1 to 40 units that live for up to 6 launches.
  [[nodiscard]] std::vector<Piece> few(std::uint32_t n) {
    std::vector<Piece> some;
    std::uint32_t first = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      first += below(2);
      some.push_back({MemoryPlan::alignment * (1 + below(40)), first, first + below(6)});
    }
    return some;
  }

 private:
  core::Philox random_;
  std::uint64_t next_ = 0;
};

/// Returns the offset at which a piece lies lowest beside those of an order before it.
std::size_t lowest(std::span<const Piece> some, std::span<const std::size_t> before, std::size_t number,
                   const std::vector<std::size_t>& offsets) {
  std::size_t offset = 0;
  for (bool is_free = false; !is_free;) {
    is_free = true;
    for (const std::size_t other : before) {
      const bool lives_with =
          some[other].first <= some[number].last && some[number].first <= some[other].last;
      const std::size_t end = offsets[other] + some[other].bytes;
      if (!lives_with || offsets[other] >= offset + some[number].bytes || offset >= end) continue;
      offset = end;
      is_free = false;
    }
  }
  return offset;
}

/// Returns the bytes of the smallest block: in one of all orders each piece lies as low as it can.
std::size_t least_block(std::span<const Piece> some) {
  std::vector<std::size_t> order(some.size()), offsets(some.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::size_t best = std::numeric_limits<std::size_t>::max();
  do {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < order.size() && bytes < best; ++i) {
      offsets[order[i]] = lowest(some, std::span(order).first(i), order[i], offsets);
      bytes = std::max(bytes, offsets[order[i]] + some[order[i]].bytes);
    }
    best = std::min(best, bytes);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

core::Error error_after(std::vector<Piece> changed, const MemoryPlan& plan) {
  return error_of<core::InvalidArgument>([&] { verify(changed, plan); });
}

}  // namespace

TEST_CASE("memory plan: a piece lies in a gap, or in place of another", "[engine]") {
  const MemoryPlan plan = placed(pieces);
  CHECK(plan.bytes == 256);
  CHECK(plan.most_alive == 256);
  CHECK(plan.way == "as they come, first gap");
  CHECK(plan.offsets == std::vector<std::size_t>{0, 64, 0, 0, 192});
  CHECK_NOTHROW(verify(pieces, plan));
  const MemoryPlan empty = placed({});
  CHECK(empty.bytes == 0);
  CHECK(empty.most_alive == 0);
}

TEST_CASE("memory plan: the order of arrival leaves gaps that other orders fill", "[engine]") {
  // The first one leaves a gap that the last does not fit in.
  const std::vector<Piece> late{{64, 0, 0}, {64, 0, 3}, {128, 1, 3}};
  const MemoryPlan plan = placed(late);
  CHECK(plan.offsets == std::vector<std::size_t>{0, 128, 0});
  CHECK(plan.bytes == 192);
  CHECK(plan.most_alive == 192);
  CHECK_NOTHROW(verify(late, plan));
}

TEST_CASE("memory plan: few pieces lie nearly as well as the best of all orders places them", "[engine]") {
  RandomPieces random(11);
  int n_trials = 300, n_worse = 0;
  for (int trial = 0; trial < n_trials; ++trial) {
    const std::vector<Piece> some = random.few(3 + random.below(5));
    const MemoryPlan plan = placed(some);
    CHECK_NOTHROW(verify(some, plan));
    const double ratio = static_cast<double>(plan.bytes) / static_cast<double>(least_block(some));
    CHECK(ratio >= 1.0);
    CHECK(ratio <= 1.15);
    n_worse += ratio > 1.05 ? 1 : 0;
  }
  CHECK(n_worse <= n_trials / 100);
}

TEST_CASE("memory plan: nine pieces of many sizes as well", "[engine]") {
  RandomPieces random(5);
  for (int trial = 0; trial < 3; ++trial) {
    const std::vector<Piece> some = random.few(9);
    CHECK(static_cast<double>(placed(some).bytes) <= 1.05 * static_cast<double>(least_block(some)));
  }
}

TEST_CASE("memory plan: many pieces, some of which live long, waste little", "[engine]") {
  RandomPieces random(3);
  for (const std::uint32_t n : {100U, 1000U, 5000U}) {
    CAPTURE(n);
    std::vector<Piece> some;
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::uint32_t lifetime = random.below(10) == 0 ? random.below(n) : random.below(20);
      some.push_back({random.below(5000), i, i + lifetime});
    }
    const MemoryPlan plan = placed(some);
    CHECK_NOTHROW(verify(some, plan));
    CHECK(static_cast<double>(plan.bytes) <= 1.12 * static_cast<double>(plan.most_alive));
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
