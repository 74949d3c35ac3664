// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one declaration for each family of ops, so that the table includes none of them.
// The engine's own rows, family by family; called once, by engine/dispatch.
#pragma once

namespace lodestone::engine {
class OpTable;
void register_constants(OpTable& table);
void register_elementwise(OpTable& table);
void register_reductions(OpTable& table);
void register_movement(OpTable& table);
void register_products(OpTable& table);
void register_convolutions(OpTable& table);
void register_pooling(OpTable& table);
void register_normalization(OpTable& table);
void register_activations(OpTable& table);
void register_attention(OpTable& table);
void register_batch_norm(OpTable& table);
void register_updates(OpTable& table);
void register_random(OpTable& table);
void register_indexing(OpTable& table);
void register_positions(OpTable& table);
void register_cumulative(OpTable& table);
void register_softmax(OpTable& table);
void register_linalg(OpTable& table);
void register_tuples(OpTable& table);
}  // namespace lodestone::engine
