// SPDX-License-Identifier: Apache-2.0
// How ops are recorded for a batch: several items at once, which lie along a new axis 0. `batched` says which
// inputs have it; the output gets it.
#pragma once

#include "engine/record/trace.hpp"

#include <optional>

namespace lodestone::engine {

/// Returns true if a row says how its op is recorded for a batch.
[[nodiscard]] bool can_batch(const OpInfo& op);
/// Records an op for a batch: by the rule of its row where it has one, else as its axes and the roles of its
/// attributes say, else by its decomposition. `args.out`: the output of one item. errors: InvalidArgument
/// where nothing says how.
[[nodiscard]] Tensor record_batch(const RuleArgs& args, const std::vector<bool>& batched);
/// Returns the outputs of a trace with the batch as axis 0 of each, for inputs that have it where `batched`.
/// shapes: all batches of this size.
[[nodiscard]] Tensors with_batches(const Trace& trace, const Tensors& inputs,
                                   const std::vector<bool>& batched, Dim size);

// What rules of rows are made of.

/// Returns the number of items: the extent of axis 0 of the first batched input.
[[nodiscard]] Dim batch_size(const RuleArgs& args, const std::vector<bool>& batched);
/// Returns x with the batch as axis 0, repeated where it has none.
[[nodiscard]] Tensor with_batch(const Tensor& x, bool batched, Dim size);
/// Records the op with the batch as one more axis in front of all inputs.
[[nodiscard]] Tensor batch_in_front(const RuleArgs& args, const std::vector<bool>& batched);
/// Records the op once for longer inputs: the batch is merged into an axis that all batched inputs have and
/// the others lack, so that these need not be repeated. None: there is no such axis.
[[nodiscard]] std::optional<Tensor> batch_along_axis(const RuleArgs& args, const std::vector<bool>& batched);
/// Returns x [size, …, n, …] as […, size n, …], where n is this axis of the items; `split_batch` undoes it.
[[nodiscard]] Tensor merge_batch(const Tensor& x, int axis);
[[nodiscard]] Tensor split_batch(const Tensor& x, int axis, Dim size, Dim extent);

}  // namespace lodestone::engine
