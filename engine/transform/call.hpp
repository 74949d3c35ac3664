// SPDX-License-Identifier: Apache-2.0
// Small on purpose: transforms call bodies without the header of control flow.
// Inside of the transforms: a function as one node.
#pragma once

#include "engine/transform/subgraph.hpp"

namespace lodestone::engine {

/// Returns the outputs, as a tuple. shapes: inputs as those of the body, captured ones included.
[[nodiscard]] Tensor call(const Subgraph& body, const Tensors& inputs, std::size_t n_saved,
                          std::source_location where);

}  // namespace lodestone::engine
