// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/dtype.hpp"

#include <initializer_list>
#include <string>

namespace lodestone::engine {

using core::DType;

/// A set of dtypes.
class DTypes {
 public:
  constexpr DTypes() = default;
  constexpr DTypes(std::initializer_list<DType> list) {
    for (const DType each : list) bits_ |= bit(each);
  }
  [[nodiscard]] constexpr bool contains(DType dtype) const { return (bits_ & bit(dtype)) != 0; }
  [[nodiscard]] constexpr DTypes operator|(DTypes other) const {
    DTypes both;
    both.bits_ = bits_ | other.bits_;
    return both;
  }
  [[nodiscard]] std::string text() const;  ///< "f32, f64"

 private:
  [[nodiscard]] static constexpr unsigned bit(DType dtype) { return 1U << static_cast<unsigned>(dtype); }
  unsigned bits_ = 0;
};
inline constexpr DTypes real_floats{DType::f32, DType::f64};
inline constexpr DTypes complexes{DType::c64, DType::c128};
inline constexpr DTypes floats = real_floats | complexes;
inline constexpr DTypes integers{DType::i8, DType::u8, DType::i32, DType::u32, DType::i64, DType::u64};
inline constexpr DTypes reals = real_floats | integers;
inline constexpr DTypes numbers = floats | integers;
inline constexpr DTypes any_computed = numbers | DTypes{DType::b8};
inline constexpr DTypes halves{DType::bf16, DType::f16};
/// The dtypes of ops that only move or convert elements.
inline constexpr DTypes any_stored = any_computed | halves;

}  // namespace lodestone::engine
