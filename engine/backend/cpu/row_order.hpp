// SPDX-License-Identifier: Apache-2.0
// The order in which a block of a row is combined. Generated kernels contain the text of this file: it uses
// names of the standard library that engine/generate/prelude.inc has.
#pragma once

#include <cstdint>
#include <limits>

namespace lodestone::engine::cpu_backend {

/// A block of a row is combined in so many lanes, element i in lane i mod 16; then the upper half of the
/// lanes is combined with the lower, until one is left. A block of fewer than two elements per lane is
/// combined as it stands.
inline constexpr std::int64_t n_lanes = 16;
inline constexpr std::int64_t elements_of_block = 1024;

/// Combines lane k with lane k + 8, then with k + 4, …
template <class T, class Combine>
[[gnu::always_inline]] inline T of_lanes(T* lanes, const Combine& combine) {
  for (std::int64_t width = n_lanes / 2; width > 0; width /= 2) {
    for (std::int64_t k = 0; k < width; ++k) lanes[k] = combine(lanes[k], lanes[k + width]);
  }
  return lanes[0];
}

/// Combines n elements that lie `stride` apart, n from 1 to `elements_of_block`.
template <class T, class Combine>
[[gnu::always_inline]] inline T combine_block(const T* x, std::int64_t n, std::int64_t stride,
                                              const Combine& combine) {
  if (n < 2 * n_lanes) {
    T total = x[0];
    for (std::int64_t i = 1; i < n; ++i) total = combine(total, x[i * stride]);
    return total;
  }
  T lanes[n_lanes];
  for (std::int64_t k = 0; k < n_lanes; ++k) lanes[k] = x[k * stride];
  const std::int64_t whole = n / n_lanes * n_lanes;
  if (stride == 1) {
    for (std::int64_t i = n_lanes; i < whole; i += n_lanes) {
      for (std::int64_t k = 0; k < n_lanes; ++k) lanes[k] = combine(lanes[k], x[i + k]);
    }
  } else {
    for (std::int64_t i = n_lanes; i < whole; i += n_lanes) {
      for (std::int64_t k = 0; k < n_lanes; ++k) lanes[k] = combine(lanes[k], x[(i + k) * stride]);
    }
  }
  for (std::int64_t i = whole; i < n; ++i) lanes[i - whole] = combine(lanes[i - whole], x[i * stride]);
  return of_lanes(lanes, combine);
}

/// Returns the value of a maximum before anything was combined into it.
template <class T>
[[nodiscard]] constexpr T least() {
  using Limits = std::numeric_limits<T>;
  if constexpr (Limits::has_infinity) {
    return -Limits::infinity();
  } else {
    return Limits::lowest();
  }
}
/// Returns the value of a minimum before anything was combined into it.
template <class T>
[[nodiscard]] constexpr T greatest() {
  using Limits = std::numeric_limits<T>;
  if constexpr (Limits::has_infinity) {
    return Limits::infinity();
  } else {
    return Limits::max();
  }
}

}  // namespace lodestone::engine::cpu_backend
