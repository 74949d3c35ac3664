// SPDX-License-Identifier: Apache-2.0
// Component engine: a product of matrices large enough for BLAS.
#include "engine/ops/ops.hpp"

#include <algorithm>

using namespace lodestone::engine;

int main() {
  const Tensor product = matmul(ones({64, 128}, DType::f64), ones({128, 64}, DType::f64));
  const auto values = product.to_vector<double>();
  return std::ranges::all_of(values, [](double value) { return value == 128.0; }) ? 0 : 1;
}
