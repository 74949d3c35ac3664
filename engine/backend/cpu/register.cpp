// SPDX-License-Identifier: Apache-2.0
#include "engine/backend/register.hpp"

#include "engine/backend/cpu/kernels.hpp"

namespace lodestone::engine {

void register_cpu_kernels(OpTable& table) {
  cpu_backend::register_elementwise_kernels(table);
  cpu_backend::register_reduction_kernels(table);
  cpu_backend::register_movement_kernels(table);
  cpu_backend::register_product_kernels(table);
  cpu_backend::register_direct_convolution_kernels(table);
  cpu_backend::register_convolution_weight_kernels(table);
  cpu_backend::register_patch_convolution_kernels(table);
  cpu_backend::register_pooling_kernels(table);
  cpu_backend::register_normalization_kernels(table);
  cpu_backend::register_attention_kernels(table);
  cpu_backend::register_batch_norm_kernels(table);
  cpu_backend::register_update_kernels(table);
  cpu_backend::register_random_kernels(table);
  cpu_backend::register_indexing_kernels(table);
  cpu_backend::register_cumulative_kernels(table);
  cpu_backend::register_softmax_kernels(table);
  cpu_backend::register_linalg_kernels(table);
  cpu_backend::register_onednn_convolutions(table);  // leave to some of the above what they are not faster at
  cpu_backend::register_onednn_products(table);
}

}  // namespace lodestone::engine
