// SPDX-License-Identifier: Apache-2.0
#include "engine/core/map_algebra.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/external.hpp"
#include "engine/transform/function_map.hpp"
#include "tests/gradient/map_case.hpp"

#include <cmath>

namespace lodestone::tests {
namespace {

using namespace engine;

Tensor matrix(Dim rows, Dim columns) {
  const Eigen::VectorXd numbers = some_numbers(rows * columns, -1.0, 1.0);
  return Tensor::from(std::span(numbers.data(), static_cast<std::size_t>(numbers.size())), {rows, columns});
}

/// Returns two layers of a network.
core::MapPtr network() {
  const Tensor first = matrix(8, 5), second = matrix(3, 8);
  return function_map([=](const Tensor& x) { return matmul(second, tanh(matmul(first, x))); },
                      {.name = "network", .n_in = 5});
}

/// Returns a map inside a function inside a map.
core::MapPtr around_a_map() {
  const core::MapPtr sine = core::pointwise(
      "sin", 4, [](double t) { return std::sin(t); }, [](double t) { return std::cos(t); });
  return function_map([sine](const Tensor& x) { return external(sine, x * x) + x; },
                      {.name = "around a map", .n_in = 4});
}

}  // namespace

std::vector<MapCase> engine_maps() {
  return {{"engine/network", network, [] { return some_numbers(5, -1.0, 1.0); }},
          {"engine/around a map", around_a_map, [] { return some_numbers(4, -1.0, 1.0); }}};
}

}  // namespace lodestone::tests
