// SPDX-License-Identifier: Apache-2.0
#include "engine/core/random.hpp"
#include "engine/memory/memory_plan.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace lodestone::engine {
namespace {

/// Pieces that share a place, as each is written in place of the one before.
struct Chain {
  std::size_t bytes;
  std::uint32_t first, last;
  [[nodiscard]] std::uint64_t lifetime() const { return std::uint64_t{last} - first + 1; }
  [[nodiscard]] bool lives_with(const Chain& other) const {
    return first <= other.last && other.first <= last;
  }
};

enum class Order : std::uint8_t { arrival, size, area, lifetime };
enum class Gap : std::uint8_t { first, smallest };
struct Way {
  Order order;
  Gap gap;
};

constexpr std::array<Way, 8> ways{{{Order::arrival, Gap::first},
                                   {Order::size, Gap::first},
                                   {Order::size, Gap::smallest},
                                   {Order::area, Gap::first},
                                   {Order::area, Gap::smallest},
                                   {Order::arrival, Gap::smallest},
                                   {Order::lifetime, Gap::first},
                                   {Order::lifetime, Gap::smallest}}};
/// More pieces are placed in the order of arrival alone, where few live at a time: other orders compare each
/// piece with all before it.
constexpr std::size_t most_compared = 4096;
/// Returns how often a plan that wastes bytes is mended: less often where that takes long.
int n_mends(std::size_t n_chains) {
  constexpr std::size_t most = 400, comparisons = 1'000'000;
  return static_cast<int>(std::min(most, comparisons / (n_chains * n_chains + 1)));
}

std::string text_of(const Way& way) {
  static constexpr std::array<std::string_view, 4> orders{
      "as they come", "largest first", "largest bytes × lifetime first", "longest-lived first"};
  return std::string(orders[static_cast<std::size_t>(way.order)]) +
         (way.gap == Gap::first ? ", first gap" : ", smallest gap");
}

/// Finds places for chains, one after the other.
class MemoryPlanner {
 public:
  explicit MemoryPlanner(std::span<const Piece> pieces);
  [[nodiscard]] MemoryPlan plan() const;
  [[nodiscard]] std::size_t most_alive() const { return most_alive_; }

 private:
  using Numbers = std::vector<std::uint32_t>;  // of chains
  struct Placed {
    std::size_t offset, end;
    std::uint32_t chain;
  };
  struct Placement {
    std::vector<std::size_t> offsets;  // by chain
    std::size_t bytes = 0;
  };
  [[nodiscard]] std::size_t count_most_alive() const;
  [[nodiscard]] Numbers in_order(Order order) const;
  [[nodiscard]] Placement placement(const Numbers& order, Gap gap) const;
  [[nodiscard]] Placement mended(const Way& way) const;
  [[nodiscard]] std::size_t gap_for(std::uint32_t chain, const std::vector<Placed>& placed, Gap gap) const;

  std::vector<Chain> chains_;
  Numbers chain_of_;  // by piece
  std::size_t most_alive_ = 0;
};

MemoryPlanner::MemoryPlanner(std::span<const Piece> pieces) {
  for (const Piece& each : pieces) {
    if (each.in_place_of == Piece::none) {
      chain_of_.push_back(static_cast<std::uint32_t>(chains_.size()));
      chains_.push_back({detail::taken_by(each.bytes), each.first, each.last});
    } else {
      chain_of_.push_back(chain_of_[each.in_place_of]);
      chains_[chain_of_.back()].last = each.last;
    }
  }
  most_alive_ = count_most_alive();
}

std::size_t MemoryPlanner::count_most_alive() const {
  std::vector<std::pair<std::uint32_t, std::int64_t>> changes;  // launch, bytes more
  for (const Chain& each : chains_) {
    const auto bytes = static_cast<std::int64_t>(each.bytes);
    changes.emplace_back(each.first, bytes);
    changes.emplace_back(each.last + 1, -bytes);
  }
  std::sort(changes.begin(), changes.end());
  std::int64_t now = 0, most = 0;
  for (const auto& [launch, bytes] : changes) most = std::max(most, now += bytes);
  return static_cast<std::size_t>(most);
}

MemoryPlanner::Numbers MemoryPlanner::in_order(Order order) const {
  Numbers numbers(chains_.size());
  std::iota(numbers.begin(), numbers.end(), 0U);
  const auto key = [&](std::uint32_t number) -> std::uint64_t {
    const Chain& chain = chains_[number];
    switch (order) {
      case Order::size:
        return chain.bytes;
      case Order::area:
        return chain.bytes * chain.lifetime();
      case Order::lifetime:
        return chain.lifetime();
      default:
        return 0;
    }
  };
  std::stable_sort(numbers.begin(), numbers.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return key(a) > key(b); });
  return numbers;
}

/// Returns the offset for a chain beside those that live with it, which stand in the order of their offsets.
std::size_t MemoryPlanner::gap_for(std::uint32_t chain, const std::vector<Placed>& placed, Gap gap) const {
  const std::size_t bytes = chains_[chain].bytes;
  std::size_t free = 0, best = 0, best_size = std::numeric_limits<std::size_t>::max();
  for (const Placed& each : placed) {
    if (!chains_[each.chain].lives_with(chains_[chain])) continue;
    if (each.offset >= free + bytes && each.offset - free < best_size) {
      if (gap == Gap::first) return free;
      best = free;
      best_size = each.offset - free;
    }
    free = std::max(free, each.end);
  }
  return best_size == std::numeric_limits<std::size_t>::max() ? free : best;
}

MemoryPlanner::Placement MemoryPlanner::placement(const Numbers& order, Gap gap) const {
  Placement made{std::vector<std::size_t>(chains_.size()), 0};
  std::vector<Placed> placed;
  const bool is_arrival = std::ranges::is_sorted(order);
  for (const std::uint32_t number : order) {
    // Chains that ended before the latest arrival live with none of those that are still to come.
    if (is_arrival)
      std::erase_if(placed,
                    [&](const Placed& each) { return chains_[each.chain].last < chains_[number].first; });
    const std::size_t offset = gap_for(number, placed, gap), end = offset + chains_[number].bytes;
    const auto at =
        std::ranges::upper_bound(placed, offset, {}, [](const Placed& each) { return each.offset; });
    placed.insert(at, {offset, end, number});
    made.offsets[number] = offset;
    made.bytes = std::max(made.bytes, end);
  }
  return made;
}

/// Mends a plan that wastes bytes: one of the chains on top comes earlier, which stays so unless the block
/// grows. Where to is drawn, the same for the same pieces.
MemoryPlanner::Placement MemoryPlanner::mended(const Way& way) const {
  Numbers order = in_order(way.order);
  Placement best = placement(order, way.gap);
  core::Philox random(order.size());
  std::uint64_t n_drawn = 0;
  const auto below = [&](std::size_t n) {
    return static_cast<std::ptrdiff_t>(random.uniform(n_drawn++) * static_cast<double>(n));
  };
  for (int i = n_mends(chains_.size()); i > 0 && best.bytes > most_alive_; --i) {
    Numbers on_top;  // places in the order
    for (std::uint32_t at = 0; at < order.size(); ++at) {
      if (best.offsets[order[at]] + chains_[order[at]].bytes == best.bytes) on_top.push_back(at);
    }
    const auto from = static_cast<std::ptrdiff_t>(on_top[static_cast<std::size_t>(below(on_top.size()))]);
    Numbers changed = order;
    std::rotate(changed.begin() + below(static_cast<std::size_t>(from) + 1), changed.begin() + from,
                changed.begin() + from + 1);
    Placement made = placement(changed, way.gap);
    if (made.bytes > best.bytes) continue;
    best = std::move(made);
    order = std::move(changed);
  }
  return best;
}

MemoryPlan MemoryPlanner::plan() const {
  Placement smallest;
  MemoryPlan plan;
  for (const Way& way : ways) {
    if (chains_.size() > most_compared && way.order != Order::arrival) continue;
    Placement made = mended(way);
    if (plan.way.empty() || made.bytes < smallest.bytes) {
      smallest = std::move(made);
      plan.way = text_of(way);
    }
    if (smallest.bytes == most_alive_) break;
  }
  plan.bytes = smallest.bytes;
  plan.most_alive = most_alive_;
  for (const std::uint32_t chain : chain_of_) plan.offsets.push_back(smallest.offsets[chain]);
  return plan;
}

}  // namespace

MemoryPlan placed(std::span<const Piece> pieces) { return MemoryPlanner(pieces).plan(); }

std::size_t most_alive(std::span<const Piece> pieces) { return MemoryPlanner(pieces).most_alive(); }

}  // namespace lodestone::engine
