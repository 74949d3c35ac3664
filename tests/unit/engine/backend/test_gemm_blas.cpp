// SPDX-License-Identifier: Apache-2.0
// Compiled where the products are those of BLAS.
#include "engine/backend/cpu/gemm.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

using namespace lodestone::engine;
using namespace lodestone::engine::cpu_backend;
using lodestone::core::ShapeError;
using lodestone::tests::error_of;
using lodestone::tests::HasId;

TEST_CASE("gemm: extents and strides past what BLAS counts are refused before anything is touched",
          "[engine]") {
  constexpr Dim huge = Dim{1} << 31;
  const GemmOperand<double> nothing{nullptr, 2, 1};
  const GemmResult<double> nowhere{nullptr, 2};
  const HasId too_large("too_large_for_blas", {"2147483647", "2147483648"});
  CHECK_THAT(error_of<ShapeError>([&] { gemm({huge, 2, 2}, nothing, nothing, nowhere); }), too_large);
  CHECK_THAT(error_of<ShapeError>([&] { gemm({2, huge, 2}, nothing, nothing, nowhere); }), too_large);
  CHECK_THAT(error_of<ShapeError>([&] { gemm({2, 2, huge}, nothing, nothing, nowhere); }), too_large);
  CHECK_THAT(error_of<ShapeError>([&] { gemm({2, 2, 2}, {nullptr, huge, 1}, nothing, nowhere); }), too_large);
  CHECK_THAT(error_of<ShapeError>([&] { gemm({2, 2, 2}, nothing, {nullptr, 1, huge}, nowhere); }), too_large);
  CHECK_THAT(error_of<ShapeError>([&] {
               gemm({2, 2, 2}, nothing, nothing, GemmResult<double>{nullptr, huge});
             }),
             too_large);
  CHECK_THAT(error_of<ShapeError>([&] {
               trsm<double>({nullptr, 2, 2, true, false, true}, huge, nullptr, 2);
             }),
             too_large);
}
