// SPDX-License-Identifier: Apache-2.0
// Compiled where the products are those of BLAS.
#include "engine/backend/cpu/gemm.hpp"
#include "tests/support/catch.hpp"

using namespace lodestone::engine;
using namespace lodestone::engine::cpu_backend;
using Catch::Contains;

TEST_CASE("gemm: extents and strides past what BLAS counts are refused before anything is touched",
          "[engine]") {
  constexpr Dim huge = Dim{1} << 31;
  const GemmOperand<double> nothing{nullptr, 2, 1};
  const GemmResult<double> nowhere{nullptr, 2};
  const auto says_so = Contains(
      "strides of matrices up to 2147483647, as far as BLAS counts, got 2147483648; split the product");
  CHECK_THROWS_WITH(gemm({huge, 2, 2}, nothing, nothing, nowhere), says_so);
  CHECK_THROWS_WITH(gemm({2, huge, 2}, nothing, nothing, nowhere), says_so);
  CHECK_THROWS_WITH(gemm({2, 2, huge}, nothing, nothing, nowhere), says_so);
  CHECK_THROWS_WITH(gemm({2, 2, 2}, {nullptr, huge, 1}, nothing, nowhere), says_so);
  CHECK_THROWS_WITH(gemm({2, 2, 2}, nothing, {nullptr, 1, huge}, nowhere), says_so);
  CHECK_THROWS_WITH(gemm({2, 2, 2}, nothing, nothing, GemmResult<double>{nullptr, huge}), says_so);
  CHECK_THROWS_WITH(trsm<double>({nullptr, 2, 2, true, false, true}, huge, nullptr, 2), says_so);
}
