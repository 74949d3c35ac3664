// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one declaration for each file of reference kernels.
#pragma once

namespace lodestone::engine {
class OpTable;
/// The reference kernels of convolutions and pooling.
void register_reference_windows(OpTable& table);
/// Of random bits.
void register_reference_random(OpTable& table);
/// Of gather, scatter_add, argmax, argmin and iota.
void register_reference_indexing(OpTable& table);
/// Of sums, products, … along an axis.
void register_reference_cumulative(OpTable& table);
/// Of factorisations and solves.
void register_reference_linalg(OpTable& table);
}  // namespace lodestone::engine
