// SPDX-License-Identifier: Apache-2.0
// Here and not with core's tests, because these link BLAS.
#include "engine/core/blas_setup.hpp"
#include "tests/support/catch.hpp"

using namespace lodestone;

TEST_CASE("BLAS: on a processor with AVX2 no kernels without AVX run", "[physics][blas]") {
  core::prepare_blas();
  const std::string kernels = core::blas_kernels();
  INFO("kernels: " << kernels);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) {
    for (const char* old : {"Prescott", "Core2", "Penryn", "Nehalem"}) CHECK(kernels != old);
  }
#endif
}
