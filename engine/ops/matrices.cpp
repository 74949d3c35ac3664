// SPDX-License-Identifier: Apache-2.0
// Functions of matrices that need no row of their own.
#include "engine/core/error.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/linalg.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/rules.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

/// [n, m] of indices: column − row.
Tensor diagonals(Dim n, Dim m, Device device) {
  return iota(m, DType::i64, device) - expand_dims(iota(n, DType::i64, device), 1);
}

void check_matrix(std::string_view what, const Located& x) {
  if (x.tensor.rank() < 2)
    throw core::ShapeError(std::string(what) + "#no_matrix", "expected matrices [batch…, n, m], got {} {}",
                           x.tensor.aval().text(), at_line(x.where));
}

}  // namespace

Tensor diagonal(const Located& x, Dim offset) {
  check_matrix("diagonal", x);
  const Dim n = x.tensor.dim(-2), m = x.tensor.dim(-1);
  const Dim row = std::max<Dim>(-offset, 0), column = std::max<Dim>(offset, 0);
  const Dim count = std::max<Dim>(std::min(n - row, m - column), 0);
  Shape flat = x.tensor.shape().erased(x.tensor.rank() - 1);
  flat[flat.rank() - 1] = n * m;
  const Dim first = count > 0 ? row * m + column : 0,
            last = count > 0 ? first + (count - 1) * (m + 1) + 1 : 0;
  return slice(reshape(x, flat), -1, first, last, m + 1);
}

Tensor lower_triangle(const Located& x, Dim offset) {
  check_matrix("lower_triangle", x);
  return select(less_equal(diagonals(x.tensor.dim(-2), x.tensor.dim(-1), x.tensor.device()), offset),
                x.tensor, 0.0);
}

Tensor upper_triangle(const Located& x, Dim offset) {
  check_matrix("upper_triangle", x);
  return select(greater_equal(diagonals(x.tensor.dim(-2), x.tensor.dim(-1), x.tensor.device()), offset),
                x.tensor, 0.0);
}

Tensor trace(const Located& x) { return sum(diagonal(x), Axes{-1}); }

Tensor outer(const Located& a, const Located& b) {
  if (a.tensor.rank() != 1 || b.tensor.rank() != 1)
    throw core::ShapeError("outer#no_vectors", "expected two vectors, got {} and {} {}",
                           a.tensor.aval().text(), b.tensor.aval().text(), at_line(a.where));
  return multiply({expand_dims(a, 1), a.where}, b.tensor);
}

Tensor eye(Dim n, DType dtype, Device device) { return cast(equal(diagonals(n, n, device), 0.0), dtype); }

}  // namespace lodestone::engine
