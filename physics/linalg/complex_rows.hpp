// SPDX-License-Identifier: Apache-2.0
// Private to physics/linalg: y ← y + a x for runs of complex numbers, inlined into functions with
// LODESTONE_VECTOR_CLONES.
#pragma once

#include "physics/linalg/line_blocks.hpp"

namespace lodestone::physics::linalg {

/// Four doubles wherever they lie; the compiler makes of it what the processor has.
using Vector [[gnu::vector_size(32), gnu::aligned(8), gnu::may_alias]] = double;
using VectorMask [[gnu::vector_size(32)]] = long long;

[[gnu::always_inline]] inline void add_scaled(Complex factor, const Complex* from, Complex* to, int n) {
  const auto* x = reinterpret_cast<const double*>(from);
  auto* y = reinterpret_cast<double*>(to);
  const double a = factor.real(), b = factor.imag();
  const Vector turned{-b, b, -b, b};
  int i = 0;
  for (; i + 4 <= 2 * n; i += 4) {
    const Vector here = *reinterpret_cast<const Vector*>(x + i);
    *reinterpret_cast<Vector*>(y + i) += a * here + turned * __builtin_shuffle(here, VectorMask{1, 0, 3, 2});
  }
  if (i < 2 * n) {
    y[i] += a * x[i] - b * x[i + 1];
    y[i + 1] += a * x[i + 1] + b * x[i];
  }
}

}  // namespace lodestone::physics::linalg
