// SPDX-License-Identifier: Apache-2.0
// What this shows: tensors are recorded and run when asked for; gradients, Jacobians, products with second
// derivatives and batches are transforms of functions.
//
// Equation: f(x) = Σ (xᵢ² + xᵢ xᵢ₊₁): ∂f/∂xᵢ = 2 xᵢ + xᵢ₋₁ + xᵢ₊₁, second derivative tridiagonal (1, 2, 1)
//
// Sample run: 06_tensors_and_gradients
#include "engine/core/log.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/transforms.hpp"

#include <fmt/ranges.h>

using namespace lodestone;
using namespace lodestone::engine;

namespace {

Tensor f(const Tensor& x) { return sum(square(x)) + sum(slice(x, 0, 0, -1) * slice(x, 0, 1, x.dim(0))); }

}  // namespace

int main() {
  const Tensor x = Tensor::from(std::vector<double>{1.0, 2.0, 3.0, 4.0}, {4});
  core::log::info("f(x) = {}", f(x).item<double>());

  const auto slope = grad(f)(x).to_vector<double>();
  core::log::info("gradient                {}", slope);

  const Tensor direction = Tensor::from(std::vector<double>{0.0, 1.0, 0.0, 0.0}, {4});
  const auto column = hessian_product(f, x, direction).to_vector<double>();
  core::log::info("second column of the Hessian {}", column);

  const auto matrix =
      jacobian([](const Tensor& t) { return grad(f)(t); }, x);  // [4, 4], all directions as one batch
  core::log::info("Hessian {}, first row {}", matrix.shape().text(),
                  slice(matrix, 0, 0, 1).to_vector<double>());

  const Tensor rows = Tensor::from(std::vector<double>{1, 2, 3, 4, 0, 1, 0, 1}, {2, 4});
  const auto values = vmap([](const Tensor& t) { return f(t); })(rows).to_vector<double>();
  core::log::info("f of two vectors at once {}", values);

  const bool right = slope == std::vector<double>{4, 8, 12, 11} &&
                     column == std::vector<double>{1, 2, 1, 0} && values == std::vector<double>{50, 2};
  return right ? 0 : 1;
}
