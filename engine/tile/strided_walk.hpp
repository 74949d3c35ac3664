// SPDX-License-Identifier: Apache-2.0
// The elements of a strided operand in the order of a row-major space, some in a row at a time.
#pragma once

#include "engine/graph/kernel.hpp"

#include <optional>

namespace lodestone::engine::cpu_backend {

/// An operand as a space sees it, with neighbouring axes merged wherever its strides allow it.
class StridedWalk {
 public:
  /// `from`: see `Expr::Load`.
  StridedWalk(const View& operand, const IntList& from, const Shape& space);

  /// Returns true if the elements lie as those of the space do.
  [[nodiscard]] bool is_dense() const { return n_axes_ == 0 || (n_axes_ == 1 && strides_[0] == 1); }
  /// Returns true if all places see one element.
  [[nodiscard]] bool is_one() const { return n_axes_ == 0 || (n_axes_ == 1 && strides_[0] == 0); }
  /// Returns how far neighbours are apart where that is the same all along the space, none otherwise: 1 if it
  /// is dense, 0 if it is one element.
  [[nodiscard]] std::optional<std::int64_t> step() const {
    if (n_axes_ > 1) return std::nullopt;
    return n_axes_ == 0 ? 1 : strides_[0];
  }
  /// An array in which stretches of `period` elements repeat up to the end of a block.
  struct Repetition {
    std::int64_t period, block;
  };
  /// Returns how elements repeat, such as those of a row in all rows; a period of 0: they do not.
  [[nodiscard]] Repetition repetition() const;
  /// Copies n elements of the space, from this one on.
  void copy(const std::byte* operand, std::int64_t first, std::int64_t n, std::byte* out) const;

 private:
  template <class T>
  void copy_as(const T* operand, std::int64_t first, std::int64_t n, T* out) const;

  std::size_t size_;  ///< bytes of an element
  int n_axes_ = 0;    ///< innermost first
  std::array<std::int64_t, Shape::max_size> extents_{}, strides_{};
};

}  // namespace lodestone::engine::cpu_backend
