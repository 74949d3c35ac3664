// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/memory/memory_plan.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace lodestone::engine {
namespace {

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
