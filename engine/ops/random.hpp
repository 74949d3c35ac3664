// SPDX-License-Identifier: Apache-2.0
// Random numbers addressed by a key and the index of the element: the value does not depend on threads,
// devices, order or what else was drawn.
//
// A key is u64[3], {seed, stream, position}: 24 bytes, all the state there is. The same key gives the same
// numbers, so use each once: take what follows with `advance`, or independent keys with `split_key`. Keys
// [batch…, 3] give a stream per item; under vmap a key of each item does the same. errors of all: ShapeError
// for what is no key, InvalidArgument for dtypes and probabilities, each with the op's name and the caller's
// line.
#pragma once

#include "engine/record/tensor.hpp"

namespace lodestone::engine {

/// Returns the key at position 0 of a stream of a seed.
[[nodiscard]] Tensor random_key(std::uint64_t seed, std::uint64_t stream = 0,
                                Device device = default_device());
/// Returns the key that goes on where `n` indices have been used. All draws use one per element, the normal
/// one two, the categorical one one per logit.
[[nodiscard]] Tensor advance(const Located& key, std::int64_t n);
/// Keys of independent streams: children number position … position + n − 1 of the key. shapes: [batch…, 3] →
/// [batch…, n, 3].
[[nodiscard]] Tensor split_key(const Located& key, Dim n);

/// Words of Philox4x32-10 (u32, or u64 of two of them): element i is at index position + i. source: Salmon et
/// al. 2011, doi:10.1145/2063384.2063405 shapes: key [batch…, 3] → [batch…, shape…].
[[nodiscard]] Tensor random_bits(const Located& key, const Shape& shape, DType dtype = DType::u32);
/// Returns numbers uniform in (0, 1), neither end ever comes: (2k + 1)·2^-24 of 23 random bits k in f32, (2k
/// + 1)·2^-53 of 52 in f64.
[[nodiscard]] Tensor random_uniform(const Located& key, const Shape& shape, DType dtype = DType::f32);
/// Returns standard normal numbers, Box–Muller: (−2 ln u)^(1/2) cos 2πv with u, v uniform at indices 2i and
/// 2i + 1.
[[nodiscard]] Tensor random_normal(const Located& key, const Shape& shape, DType dtype = DType::f32);
/// Returns standard normal numbers between two limits, which may be infinite: Φ⁻¹(Φ(low) + u (Φ(high) −
/// Φ(low))) with u uniform at index i, computed in f64; both limits above 0: mirrored, so that the tail keeps
/// its digits. errors: InvalidArgument also for low ≥ high and limits beyond ±37.
[[nodiscard]] Tensor random_truncated_normal(const Located& key, const Shape& shape, double low, double high,
                                             DType dtype = DType::f32);
/// True with this probability (a multiple of 2^-32).
[[nodiscard]] Tensor random_bernoulli(const Located& key, double probability, const Shape& shape);
/// Returns integers from low … high − 1, equally likely up to (high − low)·2^-64.
[[nodiscard]] Tensor random_integers(const Located& key, const Shape& shape, std::int64_t low,
                                     std::int64_t high, DType dtype = DType::i64);

/// Returns the numbers 0 … n − 1 (i64) in an order drawn for each key, all equally likely up to n·2^-64:
/// exchange i, from n − 1 to 1, is with a number below i + 1: the u64 word at index position + i. Uses
/// n indices. shapes: key [batch…, 3] → [batch…, n]. source: Durstenfeld 1964, doi:10.1145/364520.364540
/// (Fisher–Yates)
[[nodiscard]] Tensor random_permutation(const Located& key, Dim n);

/// Returns x with ∫_-∞^x e^(-t²/2) dt / (2π)^(1/2) = p, for 0 < p < 1; ±infinity at the ends, NaN outside.
[[nodiscard]] Tensor normal_quantile(const Located& p);

/// Returns the index (i64) i along an axis with probability e^{logits_i} / Σ e^logits: the largest of logits
/// plus Gumbel's noise. shapes: logits without the axis.
[[nodiscard]] Tensor random_categorical(const Located& key, const Located& logits, int axis = -1);

}  // namespace lodestone::engine
