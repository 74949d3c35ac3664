// SPDX-License-Identifier: Apache-2.0
// Small on purpose: code without BLAS does not include it.
#pragma once

#include <string>

namespace lodestone::core {

/// Prepares BLAS; to be called before its first use. Does its work once, and only for OpenBLAS; another
/// library obeys its own environment variables.
/// - BLAS works on the thread that calls it, whatever the value of OPENBLAS_NUM_THREADS. Threads are those of
///   `parallel_for`, and their number does not change a bit of a result.
/// - A release of OpenBLAS older than the processor takes kernels of 2004 for it (a quarter of the speed). It
///   gets the kernels that fit, unless OPENBLAS_CORETYPE is set. If that is impossible, a warning states the
///   value to set.
void prepare_blas();

/// Returns the name of the kernels that OpenBLAS runs, e.g. "SkylakeX"; "" with another library.
[[nodiscard]] std::string blas_kernels();

}  // namespace lodestone::core
