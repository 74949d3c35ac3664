// SPDX-License-Identifier: Apache-2.0
#include "engine/backend/cpu/tiles.hpp"

#include <algorithm>
#include <cstring>

namespace lodestone::engine::cpu_backend {
namespace {

constexpr int n_vectors = 2;

[[nodiscard]] int vector_bytes() { return isa() == Isa::avx512 ? 64 : isa() == Isa::avx2 ? 32 : 16; }

template <class T, int bytes>
struct Vector {
  using Type [[gnu::vector_size(bytes), gnu::aligned(alignof(T)), gnu::may_alias]] = T;
  static constexpr int lanes = bytes / static_cast<int>(sizeof(T));
};

/// rows × columns sums in registers.
template <class T, int bytes, int rows, int vectors>
struct Tile {
  using V = typename Vector<T, bytes>::Type;
  static constexpr int lanes = Vector<T, bytes>::lanes;
  V sum[rows][vectors];

  [[gnu::always_inline]] inline void clear() {
    for (int m = 0; m < rows; ++m) {
      for (int v = 0; v < vectors; ++v) sum[m][v] = V{};
    }
  }
  /// sum[m] += x[m] · y.
  [[gnu::always_inline]] inline void add(const T* x, Dim x_step, const T* y) {
    V row[vectors];
    for (int v = 0; v < vectors; ++v) row[v] = reinterpret_cast<const V*>(y)[v];
    for (int m = 0; m < rows; ++m) {
      for (int v = 0; v < vectors; ++v) sum[m][v] += x[m * x_step] * row[v];
    }
  }
  [[gnu::always_inline]] inline void load(const T* from, Dim step) {
    for (int m = 0; m < rows; ++m) {
      for (int v = 0; v < vectors; ++v) sum[m][v] = reinterpret_cast<const V*>(from + m * step)[v];
    }
  }
  [[gnu::always_inline]] inline void store(T* to, Dim step, Dim n_columns) const {
    for (int m = 0; m < rows; ++m) {
      if (n_columns >= vectors * lanes) {
        for (int v = 0; v < vectors; ++v) reinterpret_cast<V*>(to + m * step)[v] = sum[m][v];
      } else {
        std::memcpy(to + m * step, sum[m], static_cast<std::size_t>(n_columns) * sizeof(T));
      }
    }
  }
};

template <class T, int bytes, int rows, int vectors>
[[gnu::always_inline]] inline void window_rows(const Windows<T>& windows, Dim first) {
  Tile<T, bytes, rows, vectors> tile;
  tile.clear();
  constexpr Dim width = n_vectors * Vector<T, bytes>::lanes;
  const T* const x = windows.x + first * windows.row_step;
  const T* w = windows.w;
  for (Dim tap = 0; tap < windows.n_taps; ++tap) {
    const T* const from = x + windows.taps[tap];
    for (Dim s = 0; s < windows.depth; ++s, w += width) tile.add(from + s, windows.row_step, w);
  }
  tile.store(windows.out + first * windows.out_step, windows.out_step, windows.n_columns);
}

/// The rows from `row` on, in tiles of this many, what is left in smaller ones.
template <class T, int bytes, int rows, int vectors>
[[gnu::always_inline]] inline void all_window_rows(const Windows<T>& windows, Dim row = 0) {
  for (; row + rows <= windows.n_rows; row += rows) window_rows<T, bytes, rows, vectors>(windows, row);
  if constexpr (rows > 1) all_window_rows<T, bytes, (rows > 8 ? 8 : rows / 2), vectors>(windows, row);
}

/// Narrow outputs leave the second vector out; long lines have tiles of `most` rows, which read the weights
/// less often.
template <class T, int bytes, int rows, int most = rows>
[[gnu::always_inline]] inline void windows_of(const Windows<T>& windows) {
  if (windows.n_columns <= Vector<T, bytes>::lanes) {
    all_window_rows<T, bytes, rows, 1>(windows);
  } else if (most > rows && windows.n_rows >= 2 * most) {
    all_window_rows<T, bytes, most, n_vectors>(windows);
  } else {
    all_window_rows<T, bytes, rows, n_vectors>(windows);
  }
}

template <class T, int bytes, int rows, int vectors>
[[gnu::always_inline]] inline void outer_rows(const Outer<T>& outer, Dim first) {
  Tile<T, bytes, rows, vectors> tile;
  constexpr Dim width = n_vectors * Vector<T, bytes>::lanes;
  T* const out = outer.out + first * width;
  tile.load(out, width);
  const T* y = outer.y;
  for (Dim a = 0; a < outer.lines[0]; ++a) {
    for (Dim b = 0; b < outer.lines[1]; ++b) {
      for (Dim c = 0; c < outer.lines[2]; ++c) {
        const T* x =
            outer.x + a * outer.line_steps[0] + b * outer.line_steps[1] + c * outer.line_steps[2] + first;
        for (Dim s = 0; s < outer.n_terms; ++s, x += outer.x_step, y += outer.y_step) tile.add(x, 1, y);
      }
    }
  }
  tile.store(out, width, width);
}

template <class T, int bytes, int rows, int vectors>
[[gnu::always_inline]] inline void all_outer_rows(const Outer<T>& outer) {
  Dim row = 0;
  for (; row + rows <= outer.n_rows; row += rows) outer_rows<T, bytes, rows, vectors>(outer, row);
  for (; row + rows / 2 <= outer.n_rows; row += rows / 2) outer_rows<T, bytes, rows / 2, vectors>(outer, row);
  for (; row < outer.n_rows; ++row) outer_rows<T, bytes, 1, vectors>(outer, row);
}

/// Narrow outputs take twice the rows of one vector.
template <class T, int bytes, int rows>
[[gnu::always_inline]] inline void outer_of(const Outer<T>& outer) {
  if (outer.n_columns > Vector<T, bytes>::lanes) {
    all_outer_rows<T, bytes, rows, n_vectors>(outer);
  } else {
    all_outer_rows<T, bytes, 2 * rows, 1>(outer);
  }
}

}  // namespace

Dim tile_columns(DType dtype) { return n_vectors * vector_bytes() / static_cast<Dim>(core::size_of(dtype)); }

// 14 × 2 sums need 32 registers, 4 × 2 fit into 16.
template <class T>
void multiply_windows(const Windows<T>& windows) {
  Widest<windows_of<T, 16, 4>, windows_of<T, 32, 4>, windows_of<T, 64, 8, 14>>::get()(windows);
}
template <class T>
void add_outer(const Outer<T>& outer) {
  Widest<outer_of<T, 16, 4>, outer_of<T, 32, 4>, outer_of<T, 64, 8>>::get()(outer);
}

template void multiply_windows(const Windows<float>&);
template void multiply_windows(const Windows<double>&);
template void add_outer(const Outer<float>&);
template void add_outer(const Outer<double>&);

}  // namespace lodestone::engine::cpu_backend
