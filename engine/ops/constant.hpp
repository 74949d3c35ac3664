// SPDX-License-Identifier: Apache-2.0
// Small on purpose: what makes a number needs none of the ops.
#pragma once

#include "engine/ops/attributes.hpp"
#include "engine/record/tensor.hpp"

namespace lodestone::engine {

/// Returns a number as a tensor without axes: a node of the row "constant", which has its value at once,
/// shares it with all that are equal, and keeps its attributes. errors: DeviceError.
[[nodiscard]] Tensor literal(const ConstantAttrs& number);

}  // namespace lodestone::engine
