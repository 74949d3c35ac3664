// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/memory_plan.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <string_view>
#include <utility>

namespace lodestone::engine {
namespace {

/// Returns the bytes that a piece takes; also empty arrays have a place.
std::size_t taken_by(const Piece& piece) {
  constexpr std::size_t unit = MemoryPlan::alignment;
  return std::max(unit, (piece.bytes + unit - 1) / unit * unit);
}

/// The pieces that live at one launch, by their offsets.
class Living {
 public:
  Living(std::span<const Piece> pieces, const std::vector<std::size_t>& offsets)
      : pieces_(pieces), offsets_(offsets) {}

  /// Goes on to a launch: what was last used before it has gone.
  void go_to(std::uint32_t launch) {
    for (; !ends_.empty() && ends_.top().first < launch; ends_.pop()) erase(ends_.top().second);
  }
  void add(std::uint32_t number) {
    by_offset_[offsets_[number]] = number;
    ends_.emplace(pieces_[number].last, number);
  }
  /// Returns the lowest offset from which so many bytes are free.
  [[nodiscard]] std::size_t first_gap(std::size_t bytes) const {
    std::size_t free = 0;
    for (const auto& [offset, number] : by_offset_) {
      if (offset >= free + bytes) break;
      free = offset + taken_by(pieces_[number]);
    }
    return free;
  }

 private:
  /// Not where another piece has taken the place.
  void erase(std::uint32_t number) {
    const auto at = by_offset_.find(offsets_[number]);
    if (at != by_offset_.end() && at->second == number) by_offset_.erase(at);
  }
  std::span<const Piece> pieces_;
  const std::vector<std::size_t>& offsets_;
  std::map<std::size_t, std::uint32_t> by_offset_;
  using End = std::pair<std::uint32_t, std::uint32_t>;  // last launch, number
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

template <class... Args>
[[noreturn]] void refuse(std::string_view id, fmt::format_string<Args...> text, Args&&... args) {
  throw core::InvalidArgument(
      core::Worded{fmt::format("[engine::MemoryPlan] expected a block without conflicts, but {}",
                               fmt::format(text, std::forward<Args>(args)...)),
                   fmt::format("engine::MemoryPlan#{}", id)});
}

/// Returns whether a piece that is written in place lies where the one before it ends.
bool follows(std::span<const Piece> pieces, const MemoryPlan& plan, std::uint32_t number) {
  const std::uint32_t before = pieces[number].in_place_of;
  return pieces[number].first == pieces[before].last && pieces[number].bytes == pieces[before].bytes &&
         plan.offsets[number] == plan.offsets[before];
}

}  // namespace

MemoryPlan placed(std::span<const Piece> pieces) {
  MemoryPlan plan;
  Living living(pieces, plan.offsets);
  for (std::uint32_t i = 0; i < pieces.size(); ++i) {
    const Piece& piece = pieces[i];
    living.go_to(piece.first);
    plan.offsets.push_back(piece.in_place_of == Piece::none ? living.first_gap(taken_by(piece))
                                                            : plan.offsets[piece.in_place_of]);
    living.add(i);
    plan.bytes = std::max(plan.bytes, plan.offsets[i] + taken_by(piece));
  }
  return plan;
}

void verify(std::span<const Piece> pieces, const MemoryPlan& plan) {
  if (plan.offsets.size() != pieces.size())
    refuse("wrong_count", "{} pieces have {} offsets", pieces.size(), plan.offsets.size());
  std::vector<std::uint32_t> living;
  for (std::uint32_t i = 0; i < pieces.size(); ++i) {
    const Piece& piece = pieces[i];
    const std::size_t offset = plan.offsets[i], end = offset + piece.bytes;
    if (offset % MemoryPlan::alignment != 0 || end > plan.bytes)
      refuse("wrong_place", "piece {} lies at {} of a block of {} bytes", i, offset, plan.bytes);
    if (piece.first > piece.last || (i > 0 && piece.first < pieces[i - 1].first))
      refuse("wrong_order", "piece {} comes too late, or ends before it begins", i);
    if (piece.in_place_of != Piece::none && (piece.in_place_of >= i || !follows(pieces, plan, i)))
      refuse("not_in_place", "piece {} is not where piece {} ends", i, piece.in_place_of);
    std::erase_if(living, [&](std::uint32_t other) { return pieces[other].last < piece.first; });
    for (const std::uint32_t other : living) {
      const bool is_apart = end <= plan.offsets[other] || plan.offsets[other] + pieces[other].bytes <= offset;
      if (!is_apart && piece.in_place_of != other)
        refuse("overlap", "pieces {} and {} live at once and overlap at {}", other, i, offset);
    }
    living.push_back(i);
  }
}

}  // namespace lodestone::engine
