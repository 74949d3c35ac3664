// SPDX-License-Identifier: Apache-2.0
// Matrices [batch…, n, n], f32, f64, c64, c128; batch axes broadcast. errors: as in ops.hpp, and SolverError
// (op, matrix of the batch, pivot) when they run.
#pragma once

#include "engine/record/tensor.hpp"

namespace lodestone::engine {

[[nodiscard]] Tensor matrix_transpose(const Located& x);  ///< swaps the last two axes
[[nodiscard]] Tensor adjoint(const Located& x);           ///< conjugate of the transpose

/// Returns the lower L with L Lᴴ = A. Only the lower triangle of A is read and differentiated; only the real
/// part of its diagonal counts. source of the derivative: Murray 2016, arXiv:1602.07527
[[nodiscard]] Tensor cholesky(const Located& a);

enum class Triangle : std::uint8_t { lower, upper };
enum class Form : std::uint8_t { plain, transposed, adjoint };
/// Returns X with op(A) X = B; only the triangle of A is read. shapes: a [batch…, n, n], b [batch…, n, k], or
/// [batch…, n] with one axis less than a.
[[nodiscard]] Tensor triangular_solve(const Located& a, const Located& b, Triangle triangle = Triangle::lower,
                                      Form form = Form::plain);
/// Returns X with A X = B for a Hermitian positive definite A, of which the lower triangle is read. shapes:
/// as in `triangular_solve`.
[[nodiscard]] Tensor solve_spd(const Located& a, const Located& b);
/// Returns ln det A of a Hermitian positive definite A. shapes: [batch…, n, n] → [batch…], real.
[[nodiscard]] Tensor log_determinant_spd(const Located& a);

// Of the last two axes [n, m], of any dtype.
[[nodiscard]] Tensor diagonal(const Located& x, Dim offset = 0);  ///< offset > 0: above the main one
[[nodiscard]] Tensor lower_triangle(const Located& x,
                                    Dim offset = 0);  ///< up to the diagonal `offset`, zeros above
[[nodiscard]] Tensor upper_triangle(const Located& x,
                                    Dim offset = 0);  ///< from the diagonal `offset` on, zeros below
[[nodiscard]] Tensor trace(const Located& x);         ///< sum of the diagonal
[[nodiscard]] Tensor outer(const Located& a, const Located& b);  ///< a_i b_j of two vectors
/// Returns the identity matrix [n, n].
[[nodiscard]] Tensor eye(Dim n, DType dtype = DType::f32, Device device = default_device());

}  // namespace lodestone::engine
