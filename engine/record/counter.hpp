// SPDX-License-Identifier: Apache-2.0
// Whole numbers among the state: steps, epochs, what was skipped.
#pragma once

#include "engine/record/variable.hpp"

#include <vector>

namespace lodestone::engine {

/// A scalar of i64.
[[nodiscard]] inline Tensor whole(std::int64_t value) {
  return Tensor::from(std::vector<std::int64_t>{value}, {});
}
[[nodiscard]] inline std::int64_t count_in(const Variable& variable) {
  return variable.value().item<std::int64_t>();
}

}  // namespace lodestone::engine
