// SPDX-License-Identifier: Apache-2.0
// Private to physics/linalg/multigrid: vectors of numbers, inlined into functions with
// LODESTONE_LANE_CLONES.
#pragma once

#include <cstddef>

// Everything here is inlined: how vectors are handed to functions does not matter.
#pragma GCC diagnostic ignored "-Wpsabi"

/// As LODESTONE_VECTOR_CLONES of the core, without the widest vectors: of 32 bytes they have no fused
/// products, and of 64 bytes they waste more on short rows than they gain on long ones.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define LODESTONE_LANE_CLONES __attribute__((target_clones("default", "fma")))
#else
#define LODESTONE_LANE_CLONES
#endif

namespace lodestone::physics::linalg::multigrid {

inline constexpr int lane_bytes = 32;

/// Several numbers that are neighbours in memory.
template <class T>
struct Lanes {
  static constexpr int width = lane_bytes / static_cast<int>(sizeof(T));
  using Vector [[gnu::vector_size(lane_bytes)]] = T;
  using Unaligned [[gnu::vector_size(lane_bytes), gnu::aligned(alignof(T)), gnu::may_alias]] = T;
};
template <class T>
using Vector = typename Lanes<T>::Vector;

template <class T>
[[gnu::always_inline]] inline Vector<T> load(const T* from) {
  return *reinterpret_cast<const typename Lanes<T>::Unaligned*>(from);
}
template <class T>
[[gnu::always_inline]] inline void store(T* to, const Vector<T>& value) {
  *reinterpret_cast<typename Lanes<T>::Unaligned*>(to) = value;
}

/// Complex numbers, real and imaginary parts apart.
template <class T>
struct ComplexLanes {
  Vector<T> re{}, im{};
};
template <class T>
[[gnu::always_inline]] inline ComplexLanes<T> load_complex(const T* re, std::ptrdiff_t to_im) {
  return {load(re), load(re + to_im)};
}
template <class T>
[[gnu::always_inline]] inline void store_complex(T* re, std::ptrdiff_t to_im, const ComplexLanes<T>& value) {
  store(re, value.re);
  store(re + to_im, value.im);
}
/// Computes z ← z − a b.
template <class T>
[[gnu::always_inline]] inline void subtract_product(ComplexLanes<T>& z, const ComplexLanes<T>& a,
                                                    const ComplexLanes<T>& b) {
  z.re = z.re - a.re * b.re + a.im * b.im;
  z.im = z.im - a.re * b.im - a.im * b.re;
}
template <class T>
[[gnu::always_inline]] inline ComplexLanes<T> product(const ComplexLanes<T>& a, const ComplexLanes<T>& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

}  // namespace lodestone::physics::linalg::multigrid
