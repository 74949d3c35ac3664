// SPDX-License-Identifier: Apache-2.0
// Small on purpose: convolution and pooling kernels share it, and neither should include the other.
#pragma once

#include "engine/graph/shape.hpp"

namespace lodestone::engine::cpu_backend {

/// A list of spatial axes padded to three, those that are missing in front.
using Triple = std::array<Dim, 3>;

/// Elements first … first + n − 1 of a list.
[[nodiscard]] inline Triple triple(const IntList& list, int first, int n, Dim missing) {
  Triple result{missing, missing, missing};
  for (int i = 0; i < n; ++i) result[static_cast<std::size_t>(3 - n + i)] = list[first + i];
  return result;
}

}  // namespace lodestone::engine::cpu_backend
