// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one check of an op in a folder with a check per file.
#pragma once

#include "engine/record/tensor.hpp"

#include <string>

namespace lodestone::engine {

/// Compares the shape rule of a recorded op with its kernels; returns "" or the fault. Each kernel runs in
/// memory of its own, amid four patterns of foreign bytes. It must write all bytes of the output and none
/// beside them. Its result must not depend on bytes beside the elements of the inputs. The bytes that its
/// profile counts must be those written and those of the inputs' elements. A view must be what its rule
/// gives, and stay within its memory. Of an input with gaps it must show the same elements as of a copy
/// without. A decomposition must have the result of the rule.
[[nodiscard]] std::string out_of_bounds(const Tensor& recorded, const OpInfo& op, const Attrs* attrs,
                                        const Tensors& inputs);

}  // namespace lodestone::engine
