// SPDX-License-Identifier: Apache-2.0
// The one door to BLAS (or to Eigen, where the build found no BLAS).
#pragma once

#include "engine/graph/shape.hpp"

namespace lodestone::engine::cpu_backend {

struct GemmSize {
  Dim rows, columns, summed;
};

/// Element (i, j) at data[i · row_stride + j · column_stride]; one of the strides is 1 (or its extent).
template <class T>
struct GemmOperand {
  const T* data;
  Dim row_stride, column_stride;
};

enum class Accumulate : bool { no, yes };

/// The destination of the product: rows of C start `row_stride` apart.
template <class T>
struct GemmResult {
  T* data;
  Dim row_stride;
  Accumulate accumulate = Accumulate::no;
};

/// C = A B, or C += A B. T: float, double and their complex numbers. errors: ShapeError for extents or
/// strides past what the BLAS counts.
template <class T>
void gemm(const GemmSize& size, const GemmOperand<T>& a, const GemmOperand<T>& b, const GemmResult<T>& c);

/// A triangle of the n x n matrix A (rows `row_stride` apart), from which side and in which form it stands.
template <class T>
struct TriangularOperand {
  const T* data;
  Dim n, row_stride;
  bool lower, adjoint, left;
};

/// B ← op(A)^-1 B from the left (B [n, other]) or B op(A)^-1 from the right (B [other, n]); rows of B start
/// `row_stride` apart. errors: as `gemm`.
template <class T>
void trsm(const TriangularOperand<T>& a, Dim other, T* b, Dim row_stride);

}  // namespace lodestone::engine::cpu_backend
