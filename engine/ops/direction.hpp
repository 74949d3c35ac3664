// SPDX-License-Identifier: Apache-2.0
// Small on purpose: sums along an axis and loops over steps share it.
#pragma once

#include "engine/core/words.hpp"

#include <cstdint>

namespace lodestone::engine {

/// The order in which an axis is walked: from its first element on, or from its last.
enum class Direction : std::uint8_t { forward, reverse };
constexpr auto words(Direction) {
  using enum Direction;
  return core::Words<Direction>{{forward, "forward"}, {reverse, "reverse"}};
}

}  // namespace lodestone::engine
