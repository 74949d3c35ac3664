// SPDX-License-Identifier: Apache-2.0
// Attention and its slopes share this: blocks of queries times tiles of keys, of one head at a time, by
// tiles.hpp. Operands may have gaps; what products read more than once is packed.
#pragma once

#include "engine/backend/cpu/isa.hpp"
#include "engine/backend/cpu/share.hpp"
#include "engine/backend/cpu/tiles.hpp"
#include "engine/graph/kernel.hpp"
#include "engine/ops/attributes.hpp"

namespace lodestone::engine::cpu_backend {

constexpr Dim queries_at_once = 64, keys_at_once = 256;

/// The extents of queries [batch…, n, heads, depth], keys [batch…, n_keys, heads, depth] and values
/// [batch…, n_keys, heads, columns].
struct AttentionSize {
  int rank;
  Dim n_heads = 1, n, n_keys, depth, columns;  ///< n_heads: those of all items of the batch
  Dim width;                                   ///< columns of a panel
  bool causal;

  explicit AttentionSize(const KernelCall& call)
      : rank(call.in[0].shape().rank()),
        n(call.in[0].shape()[rank - 3]),
        n_keys(call.in[1].shape()[rank - 3]),
        depth(call.in[0].shape()[rank - 1]),
        columns(call.in[2].shape()[rank - 1]),
        width(tile_columns(call.in[0].aval->dtype)),
        causal(call.attrs_of<AttentionAttrs>().causal) {
    for (int axis = 0; axis + 1 < rank; ++axis) {
      if (axis != rank - 3) n_heads *= call.in[0].shape()[axis];
    }
  }
  /// Returns the number of keys that a query sees, the first ones.
  [[nodiscard]] Dim seen_by(Dim query) const { return causal ? query + 1 + (n_keys - n) : n_keys; }
  /// Returns the most queries that a block has.
  [[nodiscard]] Dim queries_of_block() const { return std::min(n, queries_at_once); }
  /// Returns a number of columns as panels have it, with zeros at the end.
  [[nodiscard]] Dim padded(Dim n_columns) const { return (n_columns + width - 1) / width * width; }
  /// Returns nanoseconds of n_products products for all heads, roughly.
  [[nodiscard]] double ns(double n_products) const {
    return 0.02 * n_products * static_cast<double>(n_heads * n * n_keys) *
           static_cast<double>(depth + columns) / (causal ? 4.0 : 2.0);
  }
};

/// The words of one head: rows of elements.
template <class T>
struct Words {
  T* data;
  Dim n, columns, word_step, step;
  [[nodiscard]] T* operator[](Dim word) const { return data + word * word_step; }
};

/// Returns those of an operand with the leading axes of the queries, with columns or without.
template <class T>
[[nodiscard]] Words<T> words_of(const View& x, const AttentionSize& size, Dim head) {
  const Shape& shape = x.shape();
  const Strides& strides = *x.strides;
  const int words = size.rank - 3;
  T* data = x.as<T>() + head % shape[words + 1] * strides[words + 1];
  head /= shape[words + 1];
  for (int axis = words - 1; axis >= 0; --axis) {
    data += head % shape[axis] * strides[axis];
    head /= shape[axis];
  }
  const bool has_columns = shape.rank() == size.rank;
  return {data, shape[words], has_columns ? shape[words + 2] : 1, strides[words],
          has_columns ? strides[words + 2] : 1};
}

/// Packs words first … first + n − 1 times a factor: [panel][word][width], zeros at the end.
template <class T>
void pack(const Words<T>& x, Dim first, Dim n, Dim width, T factor, T* to) {
  for (Dim from = 0; from < x.columns; from += width) {
    const Dim filled = std::min(width, x.columns - from);
    for (Dim j = first; j < first + n; ++j, to += width) {
      const T* const row = x[j] + from * x.step;
      for (Dim c = 0; c < filled; ++c) to[c] = factor * row[c * x.step];
      for (Dim c = filled; c < width; ++c) to[c] = T(0);
    }
  }
}
/// Packs the first n words as columns: [panel][column of x][width], zeros at the end.
template <class T>
void pack_as_columns(const Words<T>& x, Dim n, Dim width, T* to) {
  pack<T>({x.data, x.columns, n, x.step, x.word_step}, 0, x.columns, width, T(1), to);
}

/// Rows in a block, `step` elements apart.
template <class T>
struct BlockRows {
  T* data;
  Dim step, n, columns;
};

/// out = x w, w in panels [x.columns][width] that start `panel_step` apart.
template <class T>
void multiply_block(const BlockRows<T>& x, const T* w, Dim panel_step, Dim width, const BlockRows<T>& out) {
  constexpr Dim origin = 0;
  for (Dim j = 0; j < out.columns; j += width, w += panel_step)
    multiply_windows<T>({x.data, x.step, &origin, 1, x.columns, w, out.data + j, out.step, x.n,
                         std::min(width, out.columns - j)});
}

/// A block of queries beside a tile of keys.
struct Meeting {
  Dim first_query, n_queries, first_key, n_keys;
  /// Returns how many keys of the tile query i of the block sees.
  [[nodiscard]] Dim seen_by(const AttentionSize& size, Dim i) const {
    return std::clamp<Dim>(size.seen_by(first_query + i) - first_key, 0, n_keys);
  }
};

/// Writes x_i · key_j for the pairs that see each other; others have any value. x: rows of the queries; keys:
/// packed as columns, all of the head.
template <class T>
void multiply_pairs(const AttentionSize& size, const Meeting& of, const BlockRows<T>& x, const T* keys,
                    T* out) {
  for (Dim j = 0; j < of.n_keys; j += size.width) {
    Dim blind = 0;  // the first queries, which see no key of the panel
    while (blind < x.n && of.seen_by(size, blind) <= j) ++blind;
    const BlockRows<T> seeing{x.data + blind * x.step, x.step, x.n - blind, x.columns};
    multiply_block<T>(
        seeing, keys + (of.first_key + j) * x.columns, 0, size.width,
        {out + blind * keys_at_once + j, keys_at_once, seeing.n, std::min(size.width, of.n_keys - j)});
  }
}

}  // namespace lodestone::engine::cpu_backend
