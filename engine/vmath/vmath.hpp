// SPDX-License-Identifier: Apache-2.0
// Elementary functions that loops can be vectorized over, with the same bits on every instruction set: only
// additions, multiplications, divisions, square roots, explicit fused multiply-adds, integer operations and
// selections. Within 1.5 ulp. Real f32 and f64; wider types and complex numbers take the standard library's.
// f32 other than exp computes in f64 with fewer terms.
#pragma once

#include "engine/vmath/exponential.hpp"
#include "engine/vmath/inverse.hpp"
#include "engine/vmath/logarithm.hpp"
#include "engine/vmath/trigonometric.hpp"

#include <complex>

namespace lodestone::engine::vmath {

// Of other types: found by argument, for complex numbers.
#define LODESTONE_VMATH_OTHERS(name)          \
  template <class T>                          \
  [[gnu::always_inline]] inline T name(T x) { \
    using std::name;                          \
    return name(x);                           \
  }
LODESTONE_VMATH_OTHERS(exp)
LODESTONE_VMATH_OTHERS(expm1)
LODESTONE_VMATH_OTHERS(log)
LODESTONE_VMATH_OTHERS(log1p)
LODESTONE_VMATH_OTHERS(sin)
LODESTONE_VMATH_OTHERS(cos)
LODESTONE_VMATH_OTHERS(tan)
LODESTONE_VMATH_OTHERS(asin)
LODESTONE_VMATH_OTHERS(acos)
LODESTONE_VMATH_OTHERS(atan)
LODESTONE_VMATH_OTHERS(sinh)
LODESTONE_VMATH_OTHERS(cosh)
LODESTONE_VMATH_OTHERS(tanh)
LODESTONE_VMATH_OTHERS(erf)
#undef LODESTONE_VMATH_OTHERS
template <class T>
[[gnu::always_inline]] inline T pow(T x, T y) {
  using std::pow;
  return pow(x, y);
}
template <class T>
[[gnu::always_inline]] inline T atan2(T y, T x) {
  using std::atan2;
  return atan2(y, x);
}

}  // namespace lodestone::engine::vmath
