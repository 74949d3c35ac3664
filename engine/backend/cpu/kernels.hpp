// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one declaration for each file of kernels, so that the backend includes none of their
// loops. The parts of the CPU backend, one registration each.
#pragma once

#include <cstdint>

namespace lodestone::engine {
class OpTable;
namespace cpu_backend {
void register_elementwise_kernels(OpTable& table);
void register_reduction_kernels(OpTable& table);
void register_movement_kernels(OpTable& table);
void register_product_kernels(OpTable& table);
void register_direct_convolution_kernels(OpTable& table);
void register_convolution_weight_kernels(OpTable& table);
void register_patch_convolution_kernels(OpTable& table);
/// Puts kernels of oneDNN in front of those registered before, for shapes that it is faster for.
void register_onednn_convolutions(OpTable& table);
/// Adds the kernels of narrow products.
void register_onednn_products(OpTable& table);
/// Returns whether oneDNN is there and wanted.
[[nodiscard]] bool uses_onednn();
/// Returns the number of primitives of oneDNN that this process has run.
[[nodiscard]] std::int64_t n_onednn_runs();
void register_pooling_kernels(OpTable& table);
void register_normalization_kernels(OpTable& table);
void register_attention_kernels(OpTable& table);
void register_batch_norm_kernels(OpTable& table);
void register_update_kernels(OpTable& table);
void register_random_kernels(OpTable& table);
void register_indexing_kernels(OpTable& table);
void register_cumulative_kernels(OpTable& table);
void register_softmax_kernels(OpTable& table);
void register_linalg_kernels(OpTable& table);
}  // namespace cpu_backend
}  // namespace lodestone::engine
