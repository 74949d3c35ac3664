// SPDX-License-Identifier: Apache-2.0
// Small on purpose: who takes functions needs not know how they are traced.
#pragma once

#include "engine/record/tensor.hpp"

namespace lodestone::engine {

/// A function of tensors; must record the same ops whenever it is called with the same shapes.
using Function = std::function<Tensors(const Tensors&)>;

}  // namespace lodestone::engine
