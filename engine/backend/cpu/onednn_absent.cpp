// SPDX-License-Identifier: Apache-2.0
// In the place of the files onednn….cpp where the build found no oneDNN.
#include "engine/backend/cpu/kernels.hpp"

namespace lodestone::engine::cpu_backend {

void register_onednn_convolutions(OpTable& /*table*/) {}
void register_onednn_products(OpTable& /*table*/) {}

bool uses_onednn() { return false; }
std::int64_t n_onednn_runs() { return 0; }

}  // namespace lodestone::engine::cpu_backend
