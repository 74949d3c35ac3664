// SPDX-License-Identifier: Apache-2.0
// Branches and loops as ops: their functions are recorded once, without values, and may capture what they
// like.
#pragma once

#include "engine/ops/direction.hpp"
#include "engine/record/trace.hpp"

namespace lodestone::engine {

/// Returns f(inputs) where the predicate, one boolean, is true, else g(inputs); only that one is run. Under
/// `vmap` over the predicate both are. shapes: f and g give the same. errors: ShapeError when they do not, or
/// for another predicate; InvalidArgument when f or g look at values.
[[nodiscard]] Tensors cond(const Located& predicate, const Function& f, const Function& g,
                           const Tensors& inputs);

/// The carry after the last step, and what every step gave.
struct Scanned {
  Tensors carry, ys;
};

/// Returns carry, y_t = f(carry, x_t) for t = 0, 1, … (or from the last to the first). The backward pass
/// keeps the carry of every step and runs each again. Cells that f assigns go from step to step as the carry
/// does, and hold afterwards what the last step gave. shapes: xs [T, …] each, all with the same T; f gets the
/// carry and then one slice of every x [ … ]; it gives a carry like the one it got and then the y; ys [T, …].
/// errors: ShapeError for extents that differ, no xs and for a carry that changes; InvalidArgument when f
/// looks at values.
[[nodiscard]] Scanned scan(const std::function<Tensors(const Tensors& carry, const Tensors& x)>& f,
                           const Tensors& carry, const Tensors& xs, Direction direction = Direction::forward,
                           std::source_location where = std::source_location::current());

}  // namespace lodestone::engine
