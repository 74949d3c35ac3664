// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one declaration for each file of reference kernels.
#pragma once

namespace lodestone::engine {
class OpTable;
/// The reference kernels of convolutions and pooling.
void register_reference_windows(OpTable& table);
/// Registers the kernels of random bits.
void register_reference_random(OpTable& table);
/// Registers the kernels of gather, scatter_add, slice_at, update_at, argmax, argmin and iota.
void register_reference_indexing(OpTable& table);
/// Registers the kernels of cumulative sums, products, … along an axis.
void register_reference_cumulative(OpTable& table);
/// Registers the kernels of factorizations and solves.
void register_reference_linalg(OpTable& table);
}  // namespace lodestone::engine
