// SPDX-License-Identifier: Apache-2.0
// Small on purpose: code without BLAS does not include it.
#pragma once

#include <string>

namespace lodestone::core {

/// To be called before BLAS is used; does its work once. For OpenBLAS only, another library obeys its own
/// environment variables:
/// - BLAS works on the thread that calls it, whatever OPENBLAS_NUM_THREADS says: threads are those of
/// `parallel_for`, and their number does not change a
///   bit of a result;
/// - a release of OpenBLAS older than the processor takes kernels of 2004 for it (a quarter of the speed): it
/// is told which of its kernels fit, unless
///   OPENBLAS_CORETYPE is set. Where that cannot be done, a warning says what to set.
void prepare_blas();

/// The name of the kernels that OpenBLAS runs, e.g. "SkylakeX"; "" with another library.
[[nodiscard]] std::string blas_kernels();

}  // namespace lodestone::core
