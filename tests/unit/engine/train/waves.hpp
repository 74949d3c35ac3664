// SPDX-License-Identifier: Apache-2.0
// Small on purpose: tests of trainings learn the same waves.
#pragma once

#include "engine/data/dataset.hpp"
#include "engine/nn/initial_values.hpp"
#include "engine/nn/loss.hpp"
#include "engine/ops/ops.hpp"

namespace lodestone::tests {

/// Returns normal numbers, the same for the same seed.
inline engine::Tensor normals(const engine::Shape& shape, std::uint64_t seed, engine::DType dtype) {
  return engine::InitialValues(seed, dtype).draw(shape, engine::normal_around(0.0, 1.0));
}

/// Returns n items: three numbers, and the sine of their sum.
inline engine::Dataset waves(std::int64_t n, std::uint64_t seed, engine::DType dtype) {
  const engine::Tensor x = normals({n, 3}, seed, dtype);
  return engine::Dataset(
      engine::NamedTensors{{"input", x}, {"target", sin(sum(x, engine::Axes{1}, engine::Keep::yes)).eval()}});
}

inline const auto squared = [](const engine::Tensor& predicted, const engine::Tensor& target) {
  return engine::mean_squared_error(predicted, target);
};
inline const auto absolute = [](const engine::Tensor& predicted, const engine::Tensor& target) {
  return engine::mean_absolute_error(predicted, target);
};

}  // namespace lodestone::tests
