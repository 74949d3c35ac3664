// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/batching.hpp"

#include "engine/core/error.hpp"
#include "engine/ops/composite.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/rules.hpp"
#include "engine/record/tuple.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;

/// The abstract values of one item's inputs.
std::vector<Aval> items_of(R args, const std::vector<bool>& batched) {
  std::vector<Aval> avals = avals_of(args.in);
  for (std::size_t i = 0; i < avals.size(); ++i) {
    if (batched[i] && avals[i].kind != Kind::tuple) avals[i].shape = avals[i].shape.erased(0);
  }
  return avals;
}

Tensors with_batch_each(R args, const std::vector<bool>& batched) {
  const Dim size = batch_size(args, batched);
  Tensors inputs;
  for (std::size_t i = 0; i < batched.size(); ++i) {
    if (!batched[i] && args.in[i].aval().kind == Kind::handle)
      throw core::InvalidArgument(args.op.name + "#one_handle_for_all",
                                  "expected one handle for each of {} items as input {}, got {} for all {}",
                                  size, i, args.in[i].aval().text(), at_line(args.where));
    inputs.push_back(with_batch(args.in[i], batched[i], size));
  }
  return inputs;
}

/// Records the op for one input that alone has a batch, in front; none where the row or its attributes do not
/// allow that.
std::optional<Tensor> batch_alone(R args, const std::vector<bool>& batched) {
  if (args.op.stacks_alone == 0) return std::nullopt;
  const auto input =
      static_cast<std::size_t>(std::find(batched.begin(), batched.end(), true) - batched.begin());
  const bool is_alone = std::count(batched.begin(), batched.end(), true) == 1;
  if (batched.size() < 2 || !is_alone || (args.op.stacks_alone >> input & 1) == 0) return std::nullopt;
  const AttrsPtr attrs = args.attrs->fit(NewAxis{batch_size(args, batched), ~(std::uint64_t{1} << input)});
  if (!attrs) return std::nullopt;
  const Tensor out = record(args.op, args.in, attrs, args.where);
  const std::vector<Aval> avals = avals_of(args.in);
  const IntList sources = args.op.axis_map({avals, out.aval(), attrs.get()}).sources(input);
  return move_axis(out, static_cast<int>(std::find(sources.begin(), sources.end(), 0) - sources.begin()), 0);
}

Tensor batch_decomposed(R args, const std::vector<bool>& batched) {
  const Trace trace = Trace::without_values(decomposition(args), items_of(args, batched), args.where);
  return with_batches(trace, {args.in.begin(), args.in.end()}, batched, batch_size(args, batched))[0];
}

}  // namespace

bool can_batch(const OpInfo& op) {
  return op.batch || op.stacks || op.axes || op.decompose || op.op_class == OpClass::elementwise;
}

Tensor record_batch(R args, const std::vector<bool>& batched) {
  const OpInfo& op = args.op;
  if (op.batch) return op.batch(args, batched);
  if (op.is_axis_by_axis()) return batch_in_front(args, batched);
  const std::vector<bool> all(batched.size(), true);
  if (auto result = batch_alone(args, batched)) return *result;
  if (batched != all) {
    if (auto result = batch_along_axis(args, batched)) return *result;
  }
  if (op.stacks) return batch_in_front(args, batched);
  if (op.decompose) return batch_decomposed(args, batched);
  const Tensors repeated = with_batch_each(args, batched);
  if (auto result = batch_along_axis({op, repeated, args.out, args.attrs, args.where}, all)) return *result;
  throw core::InvalidArgument(op.name + "#no_batching_rule",
                              "has no batching rule, so that vmap cannot go through it {}",
                              at_line(args.where));
}

Tensors with_batches(const Trace& trace, const Tensors& inputs, const std::vector<bool>& batched, Dim size) {
  auto [outputs, has_batch] = trace.batch(inputs, batched, record_batch);
  for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i] = with_batch(outputs[i], has_batch[i], size);
  return outputs;
}

Dim batch_size(R args, const std::vector<bool>& batched) {
  const auto first =
      static_cast<std::size_t>(std::find(batched.begin(), batched.end(), true) - batched.begin());
  const Tensor& x = args.in[first];
  return (x.aval().kind == Kind::tuple ? avals_of(x)[0] : x.aval()).shape[0];
}

Tensor with_batch(const Tensor& x, bool batched, Dim size) {
  return batched ? x : broadcast_to(x, x.shape().inserted(0, size));
}

Tensor batch_in_front(R args, const std::vector<bool>& batched) {
  const AttrsPtr attrs = args.attrs ? args.attrs->fit(NewAxis{batch_size(args, batched)}) : args.attrs;
  return record(args.op, with_batch_each(args, batched), attrs, args.where);
}

std::optional<Tensor> batch_along_axis(R args, const std::vector<bool>& batched) {
  const std::vector<Aval> items = items_of(args, batched);
  const Aval& out = args.out.aval();
  const AxisMap map = args.op.axis_map({items, out, args.attrs.get()});
  const int axis = map.shared_axis(batched);
  if (axis < 0) return std::nullopt;
  Tensors inputs(args.in.begin(), args.in.end());
  const auto label = static_cast<int>(map.outputs[0][axis]);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (batched[i]) inputs[i] = merge_batch(inputs[i], static_cast<int>(map.axis_of(i, label)));
  }
  const Dim size = batch_size(args, batched), extent = out.shape[axis];
  std::vector<AxisRange> ranges = map.all();
  ranges[static_cast<std::size_t>(label)].extent *= size;
  const AttrsPtr attrs = attrs_of_part(map, args.attrs, ranges);
  return split_batch(record(args.op, inputs, attrs, args.where), axis, size, extent);
}

Tensor merge_batch(const Tensor& x, int axis) {
  const Tensor moved = move_axis(x, 0, axis);
  Shape shape = moved.shape().erased(axis);
  shape[axis] *= x.shape()[0];
  return reshape(moved, shape);
}

Tensor split_batch(const Tensor& x, int axis, Dim size, Dim extent) {
  Shape shape = x.shape();
  shape[axis] = extent;
  return move_axis(reshape(x, shape.inserted(axis, size)), axis, 0);
}

}  // namespace lodestone::engine
