// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/number.hpp"

#include "engine/core/half.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

namespace lodestone::engine {
namespace {

using Complex = std::complex<double>;

/// Returns true if T, whole numbers or booleans, contains x.
template <class T, class X>
bool contains(X x) {
  if constexpr (std::is_floating_point_v<X>) {
    return x == std::floor(x) && x >= static_cast<double>(std::numeric_limits<T>::lowest()) &&
           x < std::ldexp(1.0, std::numeric_limits<T>::digits);
  } else if constexpr (std::is_same_v<T, bool>) {
    return x == 0 || x == 1;
  } else {
    return std::in_range<T>(x);
  }
}

/// Returns true if a dtype of whole numbers or booleans contains x.
template <class X>
bool is_whole_in(DType dtype, X x) {
  bool result = false;
  core::visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) result = contains<T>(x);
  });
  return result;
}

/// Returns x as a T, its real part where T is real.
template <class T, class X>
T converted(const X& x) {
  constexpr bool from_complex = std::is_same_v<X, Complex>,
                 to_complex = !std::is_arithmetic_v<T> && !core::is_half_v<T>;
  if constexpr (from_complex && !to_complex) {
    return static_cast<T>(x.real());
  } else if constexpr (to_complex && !from_complex) {
    return T(static_cast<typename T::value_type>(x));
  } else {
    return static_cast<T>(x);
  }
}

}  // namespace

bool Number::fits(DType dtype) const {
  if (core::is_complex(dtype)) return true;
  return std::visit(
      [dtype](const auto& x) {
        if constexpr (std::is_same_v<decltype(x), const Complex&>) {
          return x.imag() == 0.0 && (core::is_real_float(dtype) || is_whole_in(dtype, x.real()));
        } else {
          return core::is_real_float(dtype) || is_whole_in(dtype, x);
        }
      },
      value_);
}

std::array<std::byte, 16> Number::element(DType dtype) const {
  std::array<std::byte, 16> bytes{};
  core::visit_stored_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    *reinterpret_cast<T*>(bytes.data()) =
        std::visit([](const auto& value) { return converted<T>(value); }, value_);
  });
  return bytes;
}

std::string Number::text() const {
  return std::visit(
      [](const auto& x) {
        if constexpr (std::is_same_v<decltype(x), const Complex&>) {
          return x.imag() == 0.0 ? fmt::format("{}", x.real()) : fmt::format("{}{:+}i", x.real(), x.imag());
        } else {
          return fmt::format("{}", x);
        }
      },
      value_);
}

}  // namespace lodestone::engine
