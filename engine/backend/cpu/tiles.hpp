// SPDX-License-Identifier: Apache-2.0
// Small products that stay in registers: what direct convolutions consist of. Sums run over their terms in
// order, whatever the vector width, so results differ between instruction sets only by fused multiply-adds.
#pragma once

#include "engine/backend/cpu/isa.hpp"
#include "engine/graph/aval.hpp"

#include <array>

namespace lodestone::engine::cpu_backend {

/// Columns of a tile: two vectors of the widest instruction set in use. Operands B are packed to rows of this
/// length, zeros at the end.
[[nodiscard]] Dim tile_columns(DType dtype);

/// out[m][j] = Σ_taps Σ_s x[m · row_step + tap + s] · w[tap's number][s][j]: some rows of a product whose
/// left side is windows of one array.
template <class T>
struct Windows {
  const T* x;
  Dim row_step;
  const Dim* taps;  ///< start of each window element, from x + m · row_step
  Dim n_taps, depth;
  const T* w;  ///< [n_taps][depth][tile_columns]
  T* out;
  Dim out_step, n_rows, n_columns;
};
template <class T>
void multiply_windows(const Windows<T>& windows);

/// out[i][j] += Σ_lines Σ_s x[line · line_step + s · x_step + i] · y[line, s][j], i < n_rows: what positions
/// give to the weights of one window element.
template <class T>
struct Outer {
  const T* x;
  std::array<Dim, 3> lines, line_steps;  ///< lines are counted along three axes, the last fastest
  Dim x_step;
  const T* y;  ///< [lines…][n_terms], rows of `tile_columns` or more that start y_step apart
  Dim y_step, n_terms;
  T* out;  ///< [n_rows][tile_columns]
  Dim n_rows, n_columns;
};
template <class T>
void add_outer(const Outer<T>& outer);

}  // namespace lodestone::engine::cpu_backend
