// SPDX-License-Identifier: Apache-2.0
// Floating-point numbers of two bytes: stored, moved and converted, never computed in.
#pragma once

#include "engine/core/dtype.hpp"

#include <algorithm>
#include <bit>
#include <concepts>

namespace lodestone::core {

namespace detail {

/// Returns the bits of the nearest number with this many bits of exponent and mantissa, ties to even; too
/// large: infinite; of NaN the first bits of its payload stay.
template <int exponent_bits, int mantissa_bits>
[[nodiscard]] constexpr std::uint16_t narrowed(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  constexpr int bias = (1 << (exponent_bits - 1)) - 1;
  constexpr std::uint64_t infinite = ((std::uint64_t{1} << exponent_bits) - 1) << mantissa_bits;
  const std::uint64_t sign = bits >> 63 << 15, mantissa = bits & ((std::uint64_t{1} << 52) - 1);
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  const auto with_sign = [&](std::uint64_t magnitude) {
    return static_cast<std::uint16_t>(sign | magnitude);
  };
  if (exponent == 1024)
    return with_sign(mantissa == 0 ? infinite
                                   : infinite | std::uint64_t{1} << (mantissa_bits - 1) |
                                         mantissa >> (52 - mantissa_bits));
  const int below = std::max(1 - bias - exponent, 0);  // binary places below the smallest normal number
  const int dropped = 52 - mantissa_bits + below;
  if (dropped > 53) return with_sign(0);
  const std::uint64_t significand = mantissa | std::uint64_t{1} << 52,
                      half = std::uint64_t{1} << (dropped - 1);
  const std::uint64_t rest = significand & (2 * half - 1);
  std::uint64_t kept = significand >> dropped;
  kept += rest > half || (rest == half && kept % 2 == 1) ? 1 : 0;
  // The leading one of a normal number counts as one of exponent, and so does a carry.
  if (below == 0) kept += static_cast<std::uint64_t>(exponent + bias - 1) << mantissa_bits;
  return with_sign(std::min(kept, infinite));
}

template <int exponent_bits, int mantissa_bits>
[[nodiscard]] constexpr double widened(std::uint16_t half) {
  constexpr int bias = (1 << (exponent_bits - 1)) - 1;
  const std::uint64_t sign = std::uint64_t{half} >> 15 << 63, mantissa = half & ((1U << mantissa_bits) - 1);
  const int exponent = half >> mantissa_bits & ((1 << exponent_bits) - 1);
  if (exponent == 0) {
    const double unit = std::bit_cast<double>(static_cast<std::uint64_t>(1024 - bias - mantissa_bits) << 52);
    return std::bit_cast<double>(sign | std::bit_cast<std::uint64_t>(static_cast<double>(mantissa) * unit));
  }
  const int wide = exponent == (1 << exponent_bits) - 1 ? 2047 : exponent - bias + 1023;
  return std::bit_cast<double>(sign | static_cast<std::uint64_t>(wide) << 52 |
                               mantissa << (52 - mantissa_bits));
}

/// Returns the same for the numbers whose exponents are those of `float`, by few operations on vectors.
[[nodiscard]] constexpr std::uint16_t upper_half(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
  const std::uint32_t rounded = bits + 0x7fffU + (bits >> 16 & 1U);
  return static_cast<std::uint16_t>(is_nan ? bits >> 16 | 0x40U : rounded >> 16);
}

/// An integer as a number that rounds like it: what a double cannot hold stays as a last bit that is set.
template <std::integral T>
[[nodiscard]] constexpr double for_rounding(T x) {
  if constexpr (sizeof(T) < 8) {
    return static_cast<double>(x);
  } else {
    const bool is_negative = x < 0;
    std::uint64_t size = is_negative ? 0 - static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x);
    constexpr std::uint64_t low = 0x7ff;
    if (size >> 53 != 0) size = (size & ~low) | ((size & low) != 0 ? low + 1 : 0);
    return is_negative ? -static_cast<double>(size) : static_cast<double>(size);
  }
}

}  // namespace detail

/// IEEE 754 rounding to nearest, ties to even, from every other type in one step; back without loss.
template <int exponent_bits>
class Half {
 public:
  Half() = default;
  constexpr explicit Half(double x) : bits_(detail::narrowed<exponent_bits, 15 - exponent_bits>(x)) {}
  constexpr explicit Half(float x)
      : bits_(exponent_bits == 8 ? detail::upper_half(x)
                                 : detail::narrowed<exponent_bits, 15 - exponent_bits>(double{x})) {}
  template <std::integral T>
  constexpr explicit Half(T x) : Half(detail::for_rounding(x)) {}
  [[nodiscard]] static constexpr Half of_bits(std::uint16_t bits) {
    Half result;
    result.bits_ = bits;
    return result;
  }
  [[nodiscard]] constexpr std::uint16_t bits() const { return bits_; }
  [[nodiscard]] constexpr explicit operator double() const {
    return detail::widened<exponent_bits, 15 - exponent_bits>(bits_);
  }
  template <std::same_as<float> T>
  [[nodiscard]] constexpr explicit operator T() const {
    return exponent_bits == 8 ? std::bit_cast<float>(std::uint32_t{bits_} << 16)
                              : static_cast<float>(static_cast<double>(*this));
  }

 private:
  std::uint16_t bits_ = 0;
};
using BFloat16 = Half<8>;
using Float16 = Half<5>;

namespace detail {
template <>
struct DTypeOf<BFloat16> : DTypeConstant<DType::bf16> {};
template <>
struct DTypeOf<Float16> : DTypeConstant<DType::f16> {};
}  // namespace detail

template <class T>
inline constexpr bool is_half_v = std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>;

/// As `visit_dtype`, for all dtypes.
template <class F>
void visit_stored_dtype(DType dtype, F&& f) {
  if (dtype == DType::bf16) {
    f(BFloat16{});
  } else if (dtype == DType::f16) {
    f(Float16{});
  } else {
    visit_dtype(dtype, f);
  }
}

}  // namespace lodestone::core
