// SPDX-License-Identifier: Apache-2.0
// Small on purpose: ops record with it and need no more of the tracing.
// Recording: ops become nodes of the graph, checked against their rows.
#pragma once

#include "engine/graph/op_table.hpp"
#include "engine/record/rule_args.hpp"

namespace lodestone::engine {

/// Records an op; nothing runs yet. errors: ShapeError and InvalidArgument that name the op, the line, what
/// was expected and what came.
[[nodiscard]] Tensor record(const OpInfo& op, std::span<const Tensor> inputs, AttrsPtr attrs,
                            std::source_location where);
[[nodiscard]] inline Tensor record(const OpInfo& op, std::initializer_list<Tensor> inputs, AttrsPtr attrs,
                                   std::source_location where) {
  return record(op, std::span<const Tensor>(inputs.begin(), inputs.size()), std::move(attrs), where);
}

/// Checks number, kinds, devices and dtype of the inputs of an op. errors: as those of `record`.
void check_inputs(const OpInfo& op, std::span<const Tensor> inputs, const std::source_location& where);

/// Returns a tensor without a value, which stands for the argument of a function that a transform takes
/// apart.
[[nodiscard]] Tensor placeholder(const Aval& aval,
                                 std::source_location where = std::source_location::current());

/// Returns a row-major array whose elements are to be written. errors: DeviceError.
[[nodiscard]] Tensor new_array(const Aval& aval);

/// Returns an evaluated array without gaps: the node itself, or a copy that the node keeps.
[[nodiscard]] NodePtr row_major(const NodePtr& node);

/// Returns true if a tangent is no tensor, or zeros that are known to be.
[[nodiscard]] inline bool is_zero_tangent(const Tensor& tangent) {
  return !tangent.is_valid() || tangent.node().is_zero;
}
/// Returns a + b, where either may be no tensor, which counts as zero; tuples add element by element.
[[nodiscard]] Tensor add_tangents(const Tensor& a, const Tensor& b);

}  // namespace lodestone::engine
