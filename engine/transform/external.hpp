// SPDX-License-Identifier: Apache-2.0
// Small on purpose: a public header, the only way from maps to ops.
// Any map of the contract, a simulation for example, as an op.
#pragma once

#include "engine/core/differentiable_map.hpp"
#include "engine/record/tensor.hpp"

namespace lodestone::engine {

/// Returns y = F(x), differentiated by the map's own products with its Jacobian. Inside a transform the map
/// is linearized once for value, jvp and vjp. k directions (`vmap`, `jacobian`) are one call with k
/// right-hand sides. The linearization is freed after its last use. shapes: x [n_in] → [n_out], or [items…,
/// n_in] → [items…, n_out], one item after the other. dtypes: computed in f64, any other real dtype is cast
/// on the way in and out. errors: ShapeError, InvalidArgument (no map; complex x; a second derivative in x,
/// which maps do not have), those of the map. collective: as the map; runs when it is recorded, in program
/// order.
[[nodiscard]] Tensor external(const core::MapPtr& map, const Located& x);

}  // namespace lodestone::engine
