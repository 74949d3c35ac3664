// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace lodestone::engine {

/// Extent of an axis. An alias today; symbolic extents replace it without touching the shape rules, which use
/// named helpers only.
using Dim = std::int64_t;

/// A short list of integers without an allocation: extents, strides, axes.
class IntList {
 public:
  static constexpr int max_size = 8;

  IntList() = default;
  IntList(std::initializer_list<Dim> values) : IntList(std::span<const Dim>(values.begin(), values.size())) {}
  explicit IntList(std::span<const Dim> values);  ///< copies the values. errors: ShapeError past `max_size`
  /// Returns `size` times `value`.
  [[nodiscard]] static IntList filled(int size, Dim value);
  /// Returns first, first + 1, …
  [[nodiscard]] static IntList counting(int size, Dim first = 0);

  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] Dim operator[](int i) const { return values_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] Dim& operator[](int i) { return values_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const Dim* begin() const { return values_.data(); }
  [[nodiscard]] const Dim* end() const { return values_.data() + size_; }
  [[nodiscard]] Dim back() const { return values_[static_cast<std::size_t>(size_) - 1]; }
  void push_back(Dim value);
  [[nodiscard]] bool contains(Dim value) const { return std::find(begin(), end(), value) != end(); }
  [[nodiscard]] IntList inserted(int before, Dim value) const;
  [[nodiscard]] IntList erased(int at) const;
  [[nodiscard]] std::string text() const;  ///< "[3, 4]"

  friend bool operator==(const IntList& a, const IntList& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 protected:
  std::array<Dim, max_size> values_{};
  int size_ = 0;
};

/// Extents of a tensor, slowest axis first; no axes: a scalar; an extent of 0: no elements.
class Shape : public IntList {
 public:
  using IntList::IntList;
  Shape(const IntList& list)
      : IntList(list) {}  // NOLINT(google-explicit-constructor): the same thing by another name
  [[nodiscard]] int rank() const { return size_; }
  /// Returns the number of elements.
  [[nodiscard]] std::int64_t count() const {
    std::int64_t product = 1;
    for (const Dim dim : *this) product *= dim;
    return product;
  }
};

using Strides = IntList;  ///< in elements; 0 on a broadcast axis, negative on a reversed one
using Axes = IntList;

/// Returns the strides of a row-major array without gaps.
[[nodiscard]] Strides contiguous_strides(const Shape& shape);
/// Returns true when elements lie row-major without gaps (axes of extent 1 do not matter).
[[nodiscard]] bool is_contiguous(const Shape& shape, const Strides& strides);

}  // namespace lodestone::engine
