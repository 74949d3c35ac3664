// SPDX-License-Identifier: Apache-2.0
// Numbers that depend on the extent of one axis: what programs for its different extents have in common.
#pragma once

#include "engine/core/dtype.hpp"
#include "engine/graph/shape.hpp"

#include <array>
#include <concepts>
#include <optional>
#include <span>

namespace lodestone::engine {

using core::DType;

/// A straight line through numbers that belong to two extents, which gives that of a third: a·extent + b with
/// whole a ≥ 0 and b.
struct Line {
  Dim first, second;  ///< the extents at which numbers are known; they differ
  Dim extent;         ///< the one for which they are wanted

  /// Returns the number; none where no such a and b exist.
  [[nodiscard]] std::optional<Dim> at(Dim of_first, Dim of_second) const {
    const Dim rise = of_second - of_first, run = second - first;
    if (rise % run != 0 || rise / run < 0) return std::nullopt;
    return of_first + rise / run * (extent - first);
  }
};

// Each takes a number of the first extent and gives that of the wanted one in its place, or returns false.

template <std::integral T>
requires(!std::same_as<T, bool>) [[nodiscard]] bool put_on_line(T& number, T of_second, const Line& line) {
  const auto result = line.at(static_cast<Dim>(number), static_cast<Dim>(of_second));
  if (result) number = static_cast<T>(*result);
  return result.has_value();
}
[[nodiscard]] bool put_on_line(IntList& list, const IntList& of_second, const Line& line);
/// Numbers that differ must be whole; what stands there must be a number of its type.
[[nodiscard]] bool put_on_line(double& number, double of_second, const Line& line);
/// Takes a number of this dtype in its own representation, to which the same applies.
[[nodiscard]] bool put_on_line(std::span<std::byte> number, std::span<const std::byte> of_second, DType dtype,
                               const Line& line);

}  // namespace lodestone::engine
