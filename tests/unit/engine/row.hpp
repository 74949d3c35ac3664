// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/record/tensor.hpp"

namespace lodestone::tests {

/// A vector of f64.
inline engine::Tensor row(const std::vector<double>& values) {
  return engine::Tensor::from(values, {static_cast<engine::Dim>(values.size())});
}

}  // namespace lodestone::tests
