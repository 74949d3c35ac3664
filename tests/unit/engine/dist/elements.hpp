// SPDX-License-Identifier: Apache-2.0
// Small on purpose: all tests of transports send vectors.
#pragma once

#include "engine/dist/transport/transport.hpp"

#include <vector>

namespace lodestone::tests {

/// Returns the elements of a vector as what a message sends or receives.
template <class T>
[[nodiscard]] engine::Strided elements(std::vector<T>& values) {
  return {reinterpret_cast<std::byte*>(values.data()), {std::ssize(values)}, {1}, sizeof(T)};
}

}  // namespace lodestone::tests
