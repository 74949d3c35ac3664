// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/dtype.hpp"

#include <array>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

namespace lodestone::engine {

using core::DType;

/// A number as the caller wrote it: a whole one keeps all its digits. Made by implicit conversion at the
/// call.
class Number {
 public:
  Number() = default;
  // NOLINTBEGIN(google-explicit-constructor)
  template <std::signed_integral T>
  Number(T value) : value_(std::int64_t{value}) {}
  template <std::unsigned_integral T>
  Number(T value) : value_(std::uint64_t{value}) {}
  template <std::floating_point T>
  Number(T value) : value_(std::complex<double>(static_cast<double>(value))) {}
  Number(std::complex<double> value) : value_(value) {}
  Number(double real, double imag) : value_(std::complex<double>(real, imag)) {}
  // NOLINTEND(google-explicit-constructor)

  /// Returns true if a dtype contains this number, but for rounding to floating point.
  [[nodiscard]] bool fits(DType dtype) const;
  /// Returns the element with this value; it fills the first bytes. A number that does not fit is cut off.
  [[nodiscard]] std::array<std::byte, 16> element(DType dtype) const;
  [[nodiscard]] std::string text() const;  ///< "3", "0.5", "0.5-1i"

 private:
  std::variant<std::int64_t, std::uint64_t, std::complex<double>> value_;
};

}  // namespace lodestone::engine
