// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/record/tensor.hpp"

#include <string>

namespace lodestone::engine {

/// Whether the shape rule of a recorded op says what is real. Each of its kernels runs in memory of its own,
/// amid four patterns of foreign bytes: all bytes of the output must be written, none beside them, and what
/// stands beside the elements of the inputs must not matter; the bytes its profile counts must be those
/// written and those of the inputs' elements. A view must stay within the memory it looks at, a decomposition
/// give what the rule says. returns: "", or what is wrong.
[[nodiscard]] std::string out_of_bounds(const Tensor& recorded, const OpInfo& op, const Attrs* attrs,
                                        const Tensors& inputs);

}  // namespace lodestone::engine
