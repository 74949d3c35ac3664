// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the text of kernels asks which loops an expression takes, and tests do.
// Inside of the engine: an expression divided into loops.
#pragma once

#include "engine/graph/expr.hpp"

#include <span>
#include <vector>

namespace lodestone::engine {

/// Values of an expression that one loop computes: over the places of some rows, or over the rows, of which
/// it combines the elements or computes one element each.
struct TextPart {
  enum class Over : std::uint8_t { places, elements_of_rows, rows };
  Over over;
  bool is_alone;               ///< the only function vectorizes for usual arguments only
  std::vector<ExprId> values;  ///< ascending
};

/// The loops of an expression, in their order. Rows are whole before they are combined, and one unusual
/// element makes no other function slow. An output may lie in the place of an operand that only values with
/// lower numbers read: it is in no part before theirs.
class TextParts {
 public:
  explicit TextParts(const Expr& expr);
  [[nodiscard]] std::span<const TextPart> all() const { return parts_; }
  /// Returns whether a later part needs a value.
  [[nodiscard]] bool is_kept(ExprId id) const { return is_kept_[id]; }

 private:
  [[nodiscard]] std::size_t first_part(ExprId id, const TextPart& alone) const;
  const Expr& expr_;
  std::vector<TextPart> parts_;
  std::vector<std::size_t> part_of_;  // by value
  std::vector<bool> is_kept_;         // by value
};

}  // namespace lodestone::engine
