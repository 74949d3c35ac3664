// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace lodestone::core {

/// The type of an element of an array. b8 is a boolean in one byte; bf16 and f16 are stored, not computed in.
enum class DType : std::uint8_t { b8, i8, u8, i32, u32, i64, u64, bf16, f16, f32, f64, c64, c128 };
inline constexpr int n_dtypes = 13;

[[nodiscard]] std::size_t size_of(DType dtype);
[[nodiscard]] std::string_view name_of(DType dtype);

[[nodiscard]] constexpr bool is_complex(DType dtype) { return dtype == DType::c64 || dtype == DType::c128; }
[[nodiscard]] constexpr bool is_real_float(DType dtype) {
  return dtype >= DType::bf16 && dtype <= DType::f64;
}
[[nodiscard]] constexpr bool is_float(DType dtype) { return is_real_float(dtype) || is_complex(dtype); }
[[nodiscard]] constexpr bool is_integer(DType dtype) { return dtype >= DType::i8 && dtype <= DType::u64; }
/// Returns f32 of c64, f64 of c128, itself otherwise; and the other way round.
[[nodiscard]] constexpr DType real_of(DType dtype) {
  return dtype == DType::c64 ? DType::f32 : dtype == DType::c128 ? DType::f64 : dtype;
}
[[nodiscard]] constexpr DType complex_of(DType dtype) {
  return dtype == DType::f32 ? DType::c64 : dtype == DType::f64 ? DType::c128 : dtype;
}

namespace detail {
template <class T>
struct DTypeOf;
template <DType dtype_>
struct DTypeConstant {
  static constexpr DType value = dtype_;
};
template <>
struct DTypeOf<bool> : DTypeConstant<DType::b8> {};
template <>
struct DTypeOf<std::int8_t> : DTypeConstant<DType::i8> {};
template <>
struct DTypeOf<std::uint8_t> : DTypeConstant<DType::u8> {};
template <>
struct DTypeOf<std::int32_t> : DTypeConstant<DType::i32> {};
template <>
struct DTypeOf<std::uint32_t> : DTypeConstant<DType::u32> {};
template <>
struct DTypeOf<std::int64_t> : DTypeConstant<DType::i64> {};
template <>
struct DTypeOf<std::uint64_t> : DTypeConstant<DType::u64> {};
template <>
struct DTypeOf<float> : DTypeConstant<DType::f32> {};
template <>
struct DTypeOf<double> : DTypeConstant<DType::f64> {};
template <>
struct DTypeOf<std::complex<float>> : DTypeConstant<DType::c64> {};
template <>
struct DTypeOf<std::complex<double>> : DTypeConstant<DType::c128> {};
}  // namespace detail

template <class T>
inline constexpr DType dtype_of = detail::DTypeOf<std::remove_cv_t<T>>::value;

/// Calls f(T{}) with the C++ type that computes in this dtype. bf16 and f16 have none: f is not called and
/// false returned.
template <class F>
bool visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::b8:
      f(bool{});
      return true;
    case DType::i8:
      f(std::int8_t{});
      return true;
    case DType::u8:
      f(std::uint8_t{});
      return true;
    case DType::i32:
      f(std::int32_t{});
      return true;
    case DType::u32:
      f(std::uint32_t{});
      return true;
    case DType::i64:
      f(std::int64_t{});
      return true;
    case DType::u64:
      f(std::uint64_t{});
      return true;
    case DType::f32:
      f(float{});
      return true;
    case DType::f64:
      f(double{});
      return true;
    case DType::c64:
      f(std::complex<float>{});
      return true;
    case DType::c128:
      f(std::complex<double>{});
      return true;
    case DType::bf16:
    case DType::f16:
      return false;
  }
  return false;
}

}  // namespace lodestone::core
