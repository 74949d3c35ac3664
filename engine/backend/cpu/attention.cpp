// SPDX-License-Identifier: Apache-2.0
// Attention without a matrix of weights: a block of queries meets the keys tile by tile, and the sums so far
// are scaled when a larger score comes. source: Milakov & Gimelshein 2018, arXiv:1805.02867, algorithm 3; Dao
// et al. 2022, arXiv:2205.14135
#include "engine/backend/cpu/attention_tiles.hpp"
#include "engine/backend/cpu/kernels.hpp"
#include "engine/backend/cpu/sums.hpp"
#include "engine/backend/workspace.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/vmath/vmath.hpp"

namespace lodestone::engine::cpu_backend {
namespace {

/// Queries of a task; it packs the keys that they see.
constexpr Dim queries_of_task = 512;

/// The memory of a thread for values.
template <class T>
struct ValueArrays {
  T *keys, *values;                    ///< those of a head, packed
  T *queries, *weights, *part, *sums;  ///< those of a block: rows, scores and then weights, what a tile gives
                                       ///< and what all have given
  T *largest, *total, *factor;  ///< per query: its largest score, sum of weights, factor of what came before
};
template <class T>
ValueArrays<T> value_arrays(Layout& layout, const KernelCall& call) {
  const AttentionSize size(call);
  const Dim m = size.n_keys, d = size.depth, e = size.columns, block = size.queries_of_block();
  const Dim all = size.padded(m), deep = size.padded(d), wide = size.padded(e);
  const auto room = [&](Dim rows, Dim columns) { return layout.array<T>(rows * columns); };
  return {room(all, d),   room(m, wide),  room(block, deep), room(block, keys_at_once),
          room(block, e), room(block, e), room(block, 1),    room(block, 1),
          room(block, 1)};
}

/// Returns what is subtracted from scores of which this is the largest.
template <class T>
[[gnu::always_inline]] inline T shift_of(T largest) {
  return largest - largest == T(0) ? largest : T(0);
}

/// Turns scores into weights relative to the largest so far; `factor` scales what came before.
template <class T>
[[gnu::always_inline]] inline void weigh_scores(const AttentionSize& size, const Meeting& of,
                                                const ValueArrays<T>& arrays) {
  const auto larger = [](T a, T b) __attribute__((always_inline)) { return a < b ? b : a; };  // of numbers
  const auto add = [](T a, T b) __attribute__((always_inline)) { return a + b; };
  for (Dim i = 0; i < of.n_queries; ++i) {
    T* const row = arrays.weights + i * keys_at_once;
    const auto at = [row](std::int64_t j) __attribute__((always_inline)) { return row[j]; };
    const Dim n_seen = of.seen_by(size, i);
    const T before = arrays.largest[i], largest = in_lanes(n_seen, before, larger, at);
    const T shift = shift_of(largest), none = -std::numeric_limits<T>::infinity();
    for (Dim j = 0; j < n_seen; ++j) row[j] = vmath::exp(row[j] - shift);
    for (Dim j = n_seen; j < of.n_keys; ++j) row[j] = T(0);
    arrays.largest[i] = largest;
    arrays.factor[i] = before == none ? T(0) : vmath::exp(shift_of(before) - shift);
    arrays.total[i] = arrays.total[i] * arrays.factor[i] + in_lanes(n_seen, T(0), add, at);
  }
}

/// sums = sums · factor + part, row by row.
template <class T>
[[gnu::always_inline]] inline void add_part(const ValueArrays<T>& arrays, Dim n, Dim columns) {
  for (Dim i = 0; i < n; ++i) {
    T* const sums = arrays.sums + i * columns;
    const T *const part = arrays.part + i * columns, factor = arrays.factor[i];
    for (Dim c = 0; c < columns; ++c) sums[c] = sums[c] * factor + part[c];
  }
}

/// Adds what a tile of keys gives to the block.
template <class T>
void meet(const AttentionSize& size, const Meeting& of, const ValueArrays<T>& arrays) {
  const Dim padded = size.padded(size.depth);
  multiply_pairs<T>(size, of, {arrays.queries, padded, of.n_queries, size.depth}, arrays.keys,
                    arrays.weights);
  Widest<weigh_scores<T>>::get()(size, of, arrays);
  const bool is_first = of.first_key == 0;
  multiply_block<T>({arrays.weights, keys_at_once, of.n_queries, of.n_keys},
                    arrays.values + of.first_key * size.width, size.n_keys * size.width, size.width,
                    {is_first ? arrays.sums : arrays.part, size.columns, of.n_queries, size.columns});
  if (!is_first) Widest<add_part<T>>::get()(arrays, of.n_queries, size.columns);
}

/// Writes the results of queries first … first + n − 1 of a head.
template <class T>
[[gnu::always_inline]] inline void finish_block(const AttentionSize& size, const Words<T>& y,
                                                const Words<T>& statistics, Dim first, Dim n,
                                                const ValueArrays<T>& arrays) {
  for (Dim i = 0; i < n; ++i) {
    T* const to = y[first + i];
    const T* const sums = arrays.sums + i * size.columns;
    for (Dim c = 0; c < size.columns; ++c) to[c] = sums[c] / arrays.total[i];
    *statistics[first + i] = shift_of(arrays.largest[i]) + vmath::log(arrays.total[i]);
  }
}

/// Queries begin … end − 1 of a head.
template <class T>
void attend(const KernelCall& call, const AttentionSize& size, Dim head, Dim begin, Dim end) {
  const auto arrays = own_arrays<value_arrays<T>>(call);
  const auto of = [&](const View& x) { return words_of<T>(x, size, head); };
  const Words<T> queries = of(call.in[0]), y = of(call.out[0]), statistics = of(call.out[1]);
  pack_as_columns(of(call.in[1]), size.seen_by(end - 1), size.width, arrays.keys);
  pack(of(call.in[2]), 0, size.n_keys, size.width, T(1), arrays.values);
  const T scale = static_cast<T>(call.attrs_of<AttentionAttrs>().scale);
  for (Dim first = begin; first < end; first += queries_at_once) {
    const Dim n = std::min(queries_at_once, end - first), n_seen = size.seen_by(first + n - 1);
    pack(queries, first, n, size.padded(size.depth), scale, arrays.queries);
    std::fill_n(arrays.largest, n, -std::numeric_limits<T>::infinity());
    std::fill_n(arrays.total, n, T(0));
    for (Dim key = 0; key < n_seen; key += keys_at_once)
      meet<T>(size, {first, n, key, std::min(keys_at_once, n_seen - key)}, arrays);
    Widest<finish_block<T>>::get()(size, y, statistics, first, n, arrays);
  }
}

template <class T>
void values_kernel(const KernelCall& call) {
  const AttentionSize size(call);
  const Dim n_tasks = (size.n + queries_of_task - 1) / queries_of_task;  // of a head
  share(size.n_heads * n_tasks, size.ns(2.0), [&](Dim begin, Dim end) {
    for (Dim i = begin; i < end; ++i) {
      const Dim first = i % n_tasks * queries_of_task;
      attend<T>(call, size, i / n_tasks, first, std::min(first + queries_of_task, size.n));
    }
  });
}

/// The memory of a thread for slopes.
template <class T>
struct SlopeArrays {
  T *keys, *values, *key_rows;           ///< those of a head: packed as columns, as columns, as rows
  T *key_slopes, *value_slopes;          ///< those of a head, in panels of rows
  T *weights, *slopes, *part;            ///< those of a block and a tile: p, g, what it gives to slopes in q
  T *of_queries, *cotangents, *queries;  ///< those of a block: slopes in q, rows of t and q
};
template <class T>
SlopeArrays<T> slope_arrays(Layout& layout, const KernelCall& call) {
  const AttentionSize size(call);
  const Dim m = size.n_keys, all = size.padded(m), block = size.queries_of_block();
  const Dim d = size.padded(size.depth), e = size.padded(size.columns);
  const auto room = [&](Dim rows, Dim columns) { return layout.array<T>(rows * columns); };
  return {room(all, size.depth),
          room(all, size.columns),
          room(m, d),
          room(m, d),
          room(m, e),
          room(block, keys_at_once),
          room(block, keys_at_once),
          room(block, d),
          room(block, d),
          room(block, e),
          room(block, d)};
}

/// Turns scores into weights p, and products of t and v into slopes g of the scores.
template <class T>
[[gnu::always_inline]] inline void weigh_slopes(const AttentionSize& size, const Meeting& of,
                                                const std::array<Words<T>, 2>& per_query, T* weights,
                                                T* slopes) {
  for (Dim i = 0; i < of.n_queries; ++i, weights += keys_at_once, slopes += keys_at_once) {
    const T statistic = *per_query[0][of.first_query + i], c = *per_query[1][of.first_query + i];
    const Dim n_seen = of.seen_by(size, i);
    for (Dim j = 0; j < n_seen; ++j) {
      const T p = vmath::exp(weights[j] - statistic);
      weights[j] = p;
      slopes[j] = p * (slopes[j] - c);
    }
    for (Dim j = n_seen; j < of.n_keys; ++j) weights[j] = slopes[j] = T(0);
  }
}

/// out += matrixᵀ x: what the queries of a block give to the words of a tile. x: rows of whole panels; out:
/// panels of rows, from the first word of the tile on.
template <class T>
void add_to_words(const AttentionSize& size, const Meeting& of, const T* matrix, const T* x, Dim columns,
                  T* out) {
  const Dim step = size.padded(columns), n = of.n_queries, width = size.width;
  for (Dim j = 0; j < columns; j += width, out += size.n_keys * width)
    add_outer<T>({matrix, {1, 1, 1}, {}, keys_at_once, x + j, step, n, out, of.n_keys, width});
}

template <class T>
void meet_slopes(const AttentionSize& size, const Meeting& of, const std::array<Words<T>, 2>& per_query,
                 const SlopeArrays<T>& arrays) {
  const Dim depth = size.padded(size.depth), first = of.first_key * size.width;
  const BlockRows<T> queries{arrays.queries, depth, of.n_queries, size.depth},
      cotangents{arrays.cotangents, size.padded(size.columns), of.n_queries, size.columns};
  multiply_pairs<T>(size, of, queries, arrays.keys, arrays.weights);
  multiply_pairs<T>(size, of, cotangents, arrays.values, arrays.slopes);
  Widest<weigh_slopes<T>>::get()(size, of, per_query, arrays.weights, arrays.slopes);
  add_to_words<T>(size, of, arrays.weights, arrays.cotangents, size.columns, arrays.value_slopes + first);
  add_to_words<T>(size, of, arrays.slopes, arrays.queries, size.depth, arrays.key_slopes + first);
  T* const to = of.first_key == 0 ? arrays.of_queries : arrays.part;
  multiply_block<T>({arrays.slopes, keys_at_once, of.n_queries, of.n_keys}, arrays.key_rows + first,
                    size.n_keys * size.width, size.width, {to, depth, of.n_queries, size.depth});
  for (Dim i = 0; to == arrays.part && i < of.n_queries; ++i) {
    for (Dim c = 0; c < size.depth; ++c) arrays.of_queries[i * depth + c] += to[i * depth + c];
  }
}

/// Takes words out of panels of rows.
template <class T>
void unpack(const T* panels, Dim width, const Words<T>& x) {
  for (Dim first = 0; first < x.columns; first += width) {
    for (Dim j = 0; j < x.n; ++j, panels += width)
      std::copy_n(panels, std::min(width, x.columns - first), x[j] + first);
  }
}

template <class T>
void slopes_of_head(const KernelCall& call, const AttentionSize& size, Dim head) {
  const auto arrays = own_arrays<slope_arrays<T>>(call);
  const auto of = [&](const View& x) { return words_of<T>(x, size, head); };
  const Words<T> queries = of(call.in[0]), keys = of(call.in[1]), cotangents = of(call.in[4]),
                 slopes = of(call.out[0]);
  pack_as_columns(keys, size.n_keys, size.width, arrays.keys);
  pack(keys, 0, size.n_keys, size.width, T(1), arrays.key_rows);
  pack_as_columns(of(call.in[2]), size.n_keys, size.width, arrays.values);
  std::fill_n(arrays.key_slopes, size.n_keys * size.padded(size.depth), T(0));
  std::fill_n(arrays.value_slopes, size.n_keys * size.padded(size.columns), T(0));
  const std::array<Words<T>, 2> per_query{of(call.in[3]), of(call.in[5])};  // L and c
  const T scale = static_cast<T>(call.attrs_of<AttentionAttrs>().scale);
  const Dim depth = size.padded(size.depth);
  for (Dim first = 0; first < size.n; first += queries_at_once) {
    const Dim n = std::min(queries_at_once, size.n - first), n_seen = size.seen_by(first + n - 1);
    pack(queries, first, n, depth, scale, arrays.queries);
    pack(cotangents, first, n, size.padded(size.columns), T(1), arrays.cotangents);
    for (Dim key = 0; key < n_seen; key += keys_at_once)
      meet_slopes<T>(size, {first, n, key, std::min(keys_at_once, n_seen - key)}, per_query, arrays);
    for (Dim i = 0; i < n; ++i) {
      for (Dim c = 0; c < size.depth; ++c) slopes[first + i][c] = scale * arrays.of_queries[i * depth + c];
    }
  }
  unpack(arrays.key_slopes, size.width, of(call.out[1]));
  unpack(arrays.value_slopes, size.width, of(call.out[2]));
}

template <class T>
void slopes_kernel(const KernelCall& call) {
  const AttentionSize size(call);
  share(size.n_heads, size.ns(5.0), [&](Dim begin, Dim end) {
    for (Dim head = begin; head < end; ++head) slopes_of_head<T>(call, size, head);
  });
}

template <class T>
void register_for(OpTable& table) {
  constexpr DType dtype = core::dtype_of<T>;
  table.at("attention")
      .with_kernel(
          Backend::processor, dtype,
          {.name = "cpu.tiles", .run = values_kernel<T>, .workspace = own_workspace<value_arrays<T>>});
  table.at("attention_slopes")
      .with_kernel(
          Backend::processor, dtype,
          {.name = "cpu.tiles", .run = slopes_kernel<T>, .workspace = own_workspace<slope_arrays<T>>});
}

}  // namespace

void register_attention_kernels(OpTable& table) {
  register_for<float>(table);
  register_for<double>(table);
}

}  // namespace lodestone::engine::cpu_backend
