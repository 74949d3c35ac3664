// SPDX-License-Identifier: Apache-2.0
#include "physics/linalg/serial_blas.hpp"

#include <mutex>

extern "C" [[gnu::weak]] void openblas_set_num_threads(int n);  // weak, so that any BLAS will do

namespace lodestone::physics::linalg {

void keep_blas_serial() {
  static std::once_flag done;
  std::call_once(done, [] {
    if (openblas_set_num_threads != nullptr) openblas_set_num_threads(1);
  });
}

}  // namespace lodestone::physics::linalg
