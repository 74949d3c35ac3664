// SPDX-License-Identifier: Apache-2.0
// Functions that put tensors together, take them apart and repeat them: no rows of their own.
#include "engine/core/error.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/rules.hpp"

namespace lodestone::engine {

Tensor stack(std::span<const Tensor> parts, int axis, std::source_location where) {
  Tensors expanded;
  for (const Tensor& part : parts) expanded.push_back(expand_dims({part, where}, axis));
  return concatenate(expanded, axis, where);
}

Tensors split(const Located& x, const IntList& extents, int axis) {
  const int at = counted_axis("split", axis, x.tensor.rank(), x.where);
  Dim total = 0;
  for (const Dim extent : extents) total += extent;
  if (total != x.tensor.shape()[at])
    throw core::ShapeError("split#wrong_extents", "expected extents that add up to {}, got {} for {} {}",
                           x.tensor.shape()[at], extents.text(), x.tensor.aval().text(), at_line(x.where));
  Tensors parts;
  Dim first = 0;
  for (const Dim extent : extents) {
    parts.push_back(slice(x, at, first, first + extent));
    first += extent;
  }
  return parts;
}

Tensor repeat(const Located& x, Dim times, int axis) {
  const int at = counted_axis("repeat", axis, x.tensor.rank(), x.where);
  Shape shape = x.tensor.shape();
  const Tensor spread = broadcast_to(expand_dims(x, at + 1), shape.inserted(at + 1, times));
  shape[at] *= times;
  return reshape(spread, shape);
}

Tensor tile(const Located& x, const IntList& times) {
  if (times.size() != x.tensor.rank())
    throw core::ShapeError("tile#wrong_list_length", "expected {} numbers for {}, got {} {}", x.tensor.rank(),
                           x.tensor.aval().text(), times.text(), at_line(x.where));
  Tensor result = x.tensor;
  for (int axis = 0; axis < times.size(); ++axis) {
    Shape shape = result.shape();
    if (times[axis] == 1) continue;
    result = broadcast_to({expand_dims({result, x.where}, axis), x.where}, shape.inserted(axis, times[axis]));
    shape[axis] *= times[axis];
    result = reshape({result, x.where}, shape);
  }
  return result;
}

}  // namespace lodestone::engine
