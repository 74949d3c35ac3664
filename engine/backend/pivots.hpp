// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/error.hpp"
#include "engine/graph/op_table.hpp"

namespace lodestone::engine {

/// Matrices of a batch [batch…, n, m].
[[nodiscard]] inline std::int64_t n_matrices(const Shape& shape) {
  std::int64_t product = 1;
  for (int axis = 0; axis < shape.rank() - 2; ++axis) product *= shape[axis];
  return product;
}

/// Returns the pivot. errors: SolverError with op, pivot, matrix and line unless the pivot is positive.
template <class Real>
[[nodiscard]] Real checked_pivot(Real pivot, Dim row, std::int64_t matrix, const KernelCall& call) {
  if (pivot > Real(0)) return pivot;
  throw core::SolverError(
      call.op.name + "#not_positive_definite",
      "expected positive definite matrices, pivot {} of matrix {} in {} is {:.3g}; add to its diagonal? {}",
      row, matrix, call.in[0].aval->text(), static_cast<double>(pivot), at_line(call.where));
}

/// Checks an element of the diagonal. errors: SolverError if it is zero.
inline void checked_diagonal(bool is_nonzero, Dim row, std::int64_t matrix, const KernelCall& call) {
  if (is_nonzero) return;
  throw core::SolverError(
      call.op.name + "#zero_on_diagonal",
      "expected triangles without zeros on the diagonal, pivot {} of matrix {} in {} is 0 {}", row, matrix,
      call.in[0].aval->text(), at_line(call.where));
}

}  // namespace lodestone::engine
