// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lodestone::physics::linalg {

/// From here on BLAS works on the thread that calls it, whatever OPENBLAS_NUM_THREADS says: threads are those of core::parallel_for, and their number
/// does not change a bit of a result. OpenBLAS only; another library obeys its own environment variables.
void keep_blas_serial();

}  // namespace lodestone::physics::linalg
