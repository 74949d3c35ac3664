// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one declaration for each file of kernels, so that the backend includes none of their
// loops. The parts of the CPU backend, one registration each.
#pragma once

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
void register_pooling_kernels(OpTable& table);
void register_normalization_kernels(OpTable& table);
void register_batch_norm_kernels(OpTable& table);
void register_update_kernels(OpTable& table);
void register_random_kernels(OpTable& table);
void register_indexing_kernels(OpTable& table);
void register_cumulative_kernels(OpTable& table);
void register_softmax_kernels(OpTable& table);
void register_linalg_kernels(OpTable& table);
}  // namespace cpu_backend
}  // namespace lodestone::engine
