// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/ops/linalg.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/random.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/row.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::row;
using Values = std::vector<double>;

namespace {

Tensor matrix(const Values& values) {
  const auto n = static_cast<Dim>(std::lround(std::sqrt(static_cast<double>(values.size()))));
  return reshape(row(values), {n, n});
}

/// X Xᴴ / n + 1, complex where asked.
Tensor definite(Dim n, DType dtype) {
  const DType parts = core::real_of(dtype);
  const Tensor re = random_normal(random_key(1), {n, n}, parts),
               im = random_normal(random_key(2), {n, n}, parts);
  const Tensor x = core::is_complex(dtype) ? complex(re, im) : re;
  return matmul(x, adjoint(x)) / static_cast<double>(n) + eye(n, dtype);
}

double largest(const Tensor& x) { return cast(max(abs(x)), DType::f64).item<double>(); }

}  // namespace

TEST_CASE("cholesky: of a matrix worked out by hand, the upper triangle is not read", "[engine]") {
  const Values expected{2, 0, 0, 6, 1, 0, -8, 5, 3};
  CHECK(cholesky(matrix({4, 99, 99, 12, 37, 99, -16, -43, 98})).to_vector<double>() == expected);
}

TEST_CASE("cholesky: several blocks of each dtype multiply back to the matrix", "[engine]") {
  for (const DType dtype : {DType::f32, DType::f64, DType::c64, DType::c128}) {
    const Tensor a = definite(150, dtype), l = cholesky(a);
    INFO(core::name_of(dtype));
    CHECK(largest(matmul(l, adjoint(l)) - a) < (core::real_of(dtype) == DType::f32 ? 2e-5 : 4e-14));
    CHECK(largest(upper_triangle(l, 1)) == 0.0);
  }
}

TEST_CASE("triangular_solve: each triangle and form, vectors, and batches that broadcast", "[engine]") {
  const Tensor a = definite(20, DType::c128),
               b = complex(random_normal(random_key(3), {20, 4}, DType::f64), ones({20, 4}, DType::f64));
  for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
    const Tensor t = triangle == Triangle::lower ? lower_triangle(a) : upper_triangle(a);
    CHECK(largest(matmul(t, triangular_solve(a, b, triangle)) - b) < 1e-12);
    CHECK(largest(matmul(adjoint(t), triangular_solve(a, b, triangle, Form::adjoint)) - b) < 1e-12);
    CHECK(largest(matmul(matrix_transpose(t), triangular_solve(a, b, triangle, Form::transposed)) - b) <
          1e-12);
  }
  CHECK(triangular_solve(matrix({2, 0, 1, 4}), row({2, 9})).to_vector<double>() == Values{1, 2});
  const Tensor many = stack(Tensors{matrix({2, 0, 1, 4}), matrix({1, 0, 0, 1})});
  CHECK(triangular_solve(many, reshape(row({2, 9}), {1, 2})).to_vector<double>() == Values{1, 2, 2, 9});
}

TEST_CASE("solve_spd: residual vanishes, the gradient of ln det is the inverse", "[engine]") {
  const Tensor a = definite(90, DType::f64), b = random_normal(random_key(4), {90, 3}, DType::f64);
  CHECK(largest(matmul(a, solve_spd(a, b)) - b) < 1e-12);
  const Tensor slope = grad([](const Tensor& x) { return log_determinant_spd(x); })(a);
  const Tensor inverse = solve_spd(a, eye(90, DType::f64));
  CHECK(largest(slope - (lower_triangle(inverse) + lower_triangle(inverse, -1))) < 1e-12);
}

TEST_CASE("linear algebra: a matrix that has no factor is named with its pivot and the line", "[engine]") {
  const Tensor batch = stack(Tensors{matrix({1, 0, 0, 1}), matrix({1, 2, 2, 1})});
  const Tensor no_factor = cholesky(batch), zero_pivot = triangular_solve(matrix({1, 0, 5, 0}), row({1, 1}));
  CHECK_THAT(error_of<core::SolverError>([&] { static_cast<void>(no_factor.eval()); }),
             HasId("not_positive_definite",
                   {"[cholesky]", "pivot 1", "matrix 1", "f64[2, 2, 2]", "-3", "(test_linalg.cpp:"}));
  CHECK_THAT(error_of<core::SolverError>([&] { static_cast<void>(zero_pivot.eval()); }),
             HasId("zero_on_diagonal", {"[triangular_solve]", "pivot 1", "matrix 0", "f64[2, 2]"}));
  CHECK_THAT(error_of<core::ShapeError>([&] {
               static_cast<void>(cholesky(zeros({2, 3})));
             }),
             HasId("not_square", {"[cholesky]", "[batch…, n, n]", "f32[2, 3]"}));
  CHECK_THAT(error_of<core::ShapeError>([&] {
               static_cast<void>(triangular_solve(zeros({2, 2}), zeros({3, 1})));
             }),
             HasId("wrong_right_hand_sides", {"f32[batch…, n, k]", "f32[2, 2]", "f32[3, 1]"}));
}
