// SPDX-License-Identifier: Apache-2.0
// What is done to gradients between the derivative and the step.
#pragma once

#include "engine/record/tensor.hpp"

namespace lodestone::engine {

/// Returns the length of all gradients as one vector, a scalar of their dtype. errors: InvalidArgument
/// without any.
[[nodiscard]] Tensor norm_of(const Tensors& gradients);
/// Returns all gradients times min(1, largest / norm): none longer than `largest` as one vector. source:
/// Pascanu et al. 2013, arXiv:1211.5063, section 3.2
[[nodiscard]] Tensors clipped_by_norm(const Tensors& gradients, double largest);
/// Returns every element between −largest and largest. errors: InvalidArgument for complex gradients.
[[nodiscard]] Tensors clipped_by_value(const Tensors& gradients, double largest);

/// The mean of the gradients of several batches, which makes of them one step as on a batch of all of them.
class GradientMean {
 public:
  /// Adds gradients to the sum. errors: ShapeError when their shapes differ from those added before.
  void add(const Tensors& gradients);
  /// Returns the mean of the gradients added since the last `take`. errors: InvalidArgument when there are
  /// none.
  [[nodiscard]] Tensors take();
  [[nodiscard]] int n_added() const { return n_added_; }

 private:
  Tensors sum_;
  int n_added_ = 0;
};

}  // namespace lodestone::engine
