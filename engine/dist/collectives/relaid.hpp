// SPDX-License-Identifier: Apache-2.0
// Small on purpose: routes are run by those that move tensors between layouts; ops do not need it.
#pragma once

#include "engine/dist/layout/redistribute.hpp"
#include "engine/dist/transport/transport.hpp"
#include "engine/record/tensor.hpp"

#include <span>

namespace lodestone::engine {

/// Returns the box of this rank after the steps of a route; no tensor for a rank that is to have none. It
/// runs at once and is no op. `x`: the box that this rank has; no tensor if it has none. `number`: that of
/// the messages. Terms combine in the order of the tree over their parts. collective over the ranks of the
/// route. errors: ShapeError where x is not of its box, those of `Transport::test`.
[[nodiscard]] Tensor relaid(Transport& transport, std::span<const RouteStep> steps, const Tensor& x,
                            DType dtype, std::uint64_t number);

}  // namespace lodestone::engine
