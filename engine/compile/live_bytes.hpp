// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: how much of a program's values is alive when.
#pragma once

#include "engine/program/program.hpp"

#include <limits>
#include <span>

namespace lodestone::engine {

/// The lives of values and the bytes that live during each instruction, in the recorded order. What a run
/// holds anyway, inputs for example, counts nothing.
class LiveBytes {
 public:
  using Number = std::uint32_t;  // of an instruction
  static constexpr Number never = std::numeric_limits<Number>::max();

  /// `roots`: by value, that whose elements it looks at. `is_held`: by root, that it does not count.
  LiveBytes(const Program& program, std::vector<ValueId> roots, const std::vector<bool>& is_held);
  /// Takes every view as a look at its operand; outputs are held.
  explicit LiveBytes(const Program& program);

  [[nodiscard]] ValueId root(ValueId id) const { return roots_[id]; }
  /// Returns what makes a root; `never`: no instruction does, or it does not count.
  [[nodiscard]] Number first(ValueId root) const { return first_[root]; }
  /// Returns who uses a root, itself or by looks at it, in order.
  [[nodiscard]] std::span<const Number> uses(ValueId root) const { return uses_[root]; }
  [[nodiscard]] Number last(ValueId root) const {
    return uses_[root].empty() ? first_[root] : uses_[root].back();
  }
  /// Returns the first instruction during which most bytes live.
  [[nodiscard]] Number fullest() const;
  /// Returns whether so many bytes more from one instruction up to before another would be the most of all.
  [[nodiscard]] bool is_most(Number from, Number end, std::ptrdiff_t bytes) const;
  void add(Number from, Number end, std::ptrdiff_t bytes);
  /// So many bytes more from one instruction up to before another.
  struct Change {
    Number from, end;
    std::ptrdiff_t bytes;
  };
  /// Returns whether several changes together would make the most of all.
  [[nodiscard]] bool is_most(std::span<const Change> changes) const;
  void add(std::span<const Change> changes);
  /// Counts anew what is the most, which may be less than before, but not less than so many bytes.
  void recount(std::ptrdiff_t least = 0);

 private:
  std::vector<ValueId> roots_;
  std::vector<Number> first_;              // by root
  std::vector<std::vector<Number>> uses_;  // by root
  std::vector<std::ptrdiff_t> bytes_;      // by instruction
  std::ptrdiff_t most_ = 0;
};

}  // namespace lodestone::engine
