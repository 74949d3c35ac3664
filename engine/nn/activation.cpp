// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/activation.hpp"

#include "engine/core/error.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/record.hpp"

namespace lodestone::engine {

Tensor leaky_relu(const Located& x, double negative_slope) {
  return select({less({x.tensor, x.where}, 0.0), x.where}, negative_slope * x.tensor, x.tensor);
}

Tensor elu(const Located& x, double alpha) {
  // expm1 of the negative part only: where x is large it would overflow, and 0 · ∞ is no derivative.
  return select({less({x.tensor, x.where}, 0.0), x.where}, alpha * expm1(minimum(x.tensor, 0.0)), x.tensor);
}

Tensor gelu(const Located& x) {
  static const OpInfo& op = op_named("gelu");
  return record(op, {x.tensor}, {}, x.where);
}

Tensor silu(const Located& x) { return swish(x); }

Tensor flatten(const Located& x) {
  if (x.tensor.rank() < 1)
    throw core::ShapeError("flatten#scalar_input", "expected [n, …], got {} {}", x.tensor.aval().text(),
                           at_line(x.where));
  const Dim n = x.tensor.shape()[0];
  return reshape(x, {n, n == 0 ? Shape(x.tensor.shape().erased(0)).count() : -1});
}

}  // namespace lodestone::engine
