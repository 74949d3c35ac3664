// SPDX-License-Identifier: Apache-2.0
// Small on purpose: routes do not depend on the names that their patterns have.
#pragma once

#include "engine/dist/layout/redistribute.hpp"

namespace lodestone::engine {

/// The kind of a step: the collective that its moves are in each of the groups of ranks that it connects.
enum class Pattern : std::uint8_t {
  slice,           ///< nothing is sent
  all_gather,      ///< each rank sends one box, the same to every other rank of its group
  all_to_all,      ///< each rank sends another box to every other rank
  permute,         ///< each rank sends at most one box and receives at most one, and has no other
  broadcast,       ///< one rank sends one box to every other rank
  reduce_scatter,  ///< terms combine
  exchange         ///< anything else
};
[[nodiscard]] constexpr auto words(Pattern) {
  return core::Words<Pattern>{
      {Pattern::slice, "slice"},           {Pattern::all_gather, "all_gather"},
      {Pattern::all_to_all, "all_to_all"}, {Pattern::permute, "permute"},
      {Pattern::broadcast, "broadcast"},   {Pattern::reduce_scatter, "reduce_scatter"},
      {Pattern::exchange, "exchange"}};
}

/// Returns the pattern of a step: that of all groups of ranks between which it sends, if they share one.
[[nodiscard]] Pattern pattern_of(const RouteStep& step);

}  // namespace lodestone::engine
