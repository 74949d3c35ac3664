// SPDX-License-Identifier: Apache-2.0
// Parts of arrays at positions that are known when ops run: slice_at and update_at, each the other's adjoint.
#include "engine/core/error.hpp"
#include "engine/ops/attributes.hpp"
#include "engine/ops/batching.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/register.hpp"
#include "engine/ops/rules.hpp"
#include "engine/ops/sampler.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;

/// Returns the number of operands that are arrays: x, and the part that is put there.
std::size_t n_arrays(const OpInfo& op) { return op.name == "slice_at" ? 1 : 2; }

Aval infer_part(const InferArgs& args) {
  const auto& [batch, axes, extents] = args.as<PartAttrs>();
  const Shape& x = args.aval(0).shape;
  const std::size_t n = n_arrays(args.op);
  bool fits = extents.rank() == x.rank() && args.in.size() == n + static_cast<std::size_t>(axes.size());
  for (int axis = 0; fits && axis < x.rank(); ++axis)
    fits = axis < batch ? extents[axis] == x[axis] : extents[axis] >= 0 && extents[axis] <= x[axis];
  std::string others;
  for (std::size_t i = 1; i < args.in.size(); ++i) {
    const Aval& aval = args.aval(i);
    others += " and " + aval.text();
    const bool is_right_dtype = i < n ? aval.dtype == args.aval(0).dtype : index_dtypes.contains(aval.dtype);
    fits = fits && is_right_dtype &&
           aval.shape == (i < n ? extents : Shape(std::span(x.begin(), static_cast<std::size_t>(batch))));
  }
  if (!fits)
    throw core::ShapeError(
        args.op.name + "#operands_do_not_fit",
        "expected an array, {}positions of {} for its axes, and room for a part with {}, got "
        "{}{} {}",
        n == 2 ? "a part of its dtype, " : "", index_dtypes.text(), args.attrs->text(), args.aval(0).text(),
        others, at_line(args.where));
  return {n == 1 ? extents : x, args.aval(0).dtype, args.aval(0).device};
}

/// Returns the labels of arrays: the axes of the output. Those that start at a position are whole, and so are
/// those of which update_at changes a part; positions have the axes of the batch.
AxisMap axes_of_part(const AxisArgs& args) {
  const auto& [batch, axes, extents] = args.as<PartAttrs>();
  const std::size_t n = args.in.size() - static_cast<std::size_t>(axes.size());
  AxisMap map = axis_by_axis(args);
  for (int axis = batch; axis < extents.rank(); ++axis) {
    const bool is_placed = axes.contains(axis), is_part = extents[axis] != args.in[0].shape[axis];
    if (is_placed || (is_part && n == 2))
      map.labels[static_cast<std::size_t>(axis)].kind = Label::Kind::whole;
    if (is_placed && n == 1) map.set(0, axis, {.how = AxisAccess::How::indexed});
    if (is_part && !is_placed && n == 1) map.set(0, axis, affine_in(axis, 1, 0));
    if (is_part && n == 2) map.set(1, axis, {});
  }
  return map;
}

/// Records one of the two on arrays, at the positions of the other or of itself.
Tensor at_positions(std::string_view op, Tensors arrays, R args) {
  const std::span<const Tensor> positions = args.in.subspan(n_arrays(args.op));
  arrays.insert(arrays.end(), positions.begin(), positions.end());
  return record(op_named(op), arrays, args.attrs, args.where);
}

Tensor jvp_of_part(R args, std::span<const Tensor> tangents) {
  const std::size_t n = n_arrays(args.op);
  const std::span<const Tensor> of_arrays = tangents.first(n);
  if (std::ranges::none_of(of_arrays, &Tensor::is_valid)) return {};
  return at_positions(args.op.name, tangents_or_zeros(of_arrays, args.in.first(n)), args);
}

Tensor vjp_of_slice(R args, const Tensor& cotangent, std::size_t which) {
  return which == 0 ? at_positions("update_at", {zeros_like(args.in[0]), cotangent}, args) : Tensor();
}

Tensor vjp_of_update(R args, const Tensor& cotangent, std::size_t which) {
  if (which == 0) return at_positions("update_at", {cotangent, zeros_like(args.in[1])}, args);
  return which == 1 ? at_positions("slice_at", {cotangent}, args) : Tensor();
}

/// Draws an array, a part of it, and positions at which it has room for the part.
Sample sample_of_part(Sampler& sampler, std::size_t n) {
  const Shape x = sampler.shape(1, 4);
  PartAttrs attrs;
  if (sampler.chance(0.5)) attrs.batch = static_cast<int>(sampler.integer(0, x.rank() - 1));
  const Shape of_batch(std::span(x.begin(), static_cast<std::size_t>(attrs.batch)));
  Tensors inputs{sampler.tensor(x, -2, 2)}, positions;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const Dim extent = axis < attrs.batch || x[axis] == 0 ? x[axis] : sampler.integer(1, x[axis]);
    attrs.extents.push_back(extent);
    if (axis < attrs.batch || sampler.chance(0.4)) continue;
    attrs.axes.push_back(axis);
    positions.push_back(sampler.tensor(of_batch, 0, static_cast<double>(x[axis] - extent),
                                       sampler.chance(0.5) ? DType::i32 : DType::i64));
  }
  if (n == 2) inputs.push_back(sampler.tensor(attrs.extents, -2, 2));
  inputs.insert(inputs.end(), positions.begin(), positions.end());
  return {inputs, make_attrs(attrs)};
}

void register_part(OpTable& table, std::string name, std::string formula, decltype(Derivative::vjp) vjp,
                   std::string slope) {
  OpInfo row;
  row.name = std::move(name);
  row.formula = std::move(formula);
  row.n_inputs = -1;
  row.dtypes = any_stored;
  row.infer = infer_part;
  row.derivative.formula = std::move(slope);
  row.derivative.jvp = jvp_of_part;
  row.derivative.vjp = std::move(vjp);
  row.op_class = OpClass::movement;
  row.axes = axes_of_part;
  row.stacks = true;
  row.stacks_alone = n_arrays(row) == 1 ? 0b1 : 0;
  if (n_arrays(row) == 2) row.batch = batch_in_front;  // positions are small, arrays stay where they are
  row.sample = [n = n_arrays(row)](Sampler& sampler) { return sample_of_part(sampler, n); };
  row.flops = [](const InferArgs&, const Aval&) { return 0.0; };
  table.add(std::move(row));
}

void register_check(OpTable& table) {
  OpInfo row;
  row.name = "checked_position";
  row.formula = "p, if it is one of 0 … last";
  row.dtypes = index_dtypes;
  row.infer = [](const InferArgs& args) { return args.aval(0); };
  row.derivative = no_derivative("its result is an integer");
  row.exact_when_cut = true;
  row.op_class = OpClass::opaque;  // an elementwise op would be merged with others, and cannot fail
  row.checks_values = true;
  row.axes = [](const AxisArgs& args) { return axis_by_axis(args); };
  row.stacks = true;
  row.sample = [](Sampler& sampler) {
    const Dim last = sampler.integer(1, 5);
    return Sample{{sampler.tensor(sampler.shape(0, 2), 0, static_cast<double>(last))},
                  make_attrs(PositionAttrs{last})};
  };
  table.add(std::move(row));
}

/// Records one of the two, with positions that are checked when they are used.
Tensor part_at(std::string_view name, const Located& x, Tensors operands, const Shape& part,
               std::vector<AxisPosition> at) {
  static const OpInfo& check = op_named("checked_position");
  const Shape& shape = x.tensor.shape();
  PartAttrs attrs{0, {}, part};
  for (AxisPosition& each : at) each.axis = counted_axis(name, each.axis, shape.rank(), x.where);
  std::ranges::sort(at, {}, &AxisPosition::axis);
  for (const auto& [axis, position] : at) {
    const Dim last = part.rank() == shape.rank() ? shape[axis] - part[axis] : -1;
    if (last < 0 || attrs.axes.contains(axis))
      throw core::ShapeError(
          std::string(name) + "#wrong_positions",
          "expected a part that fits into {} and at most one position of axis {}, got {} {}",
          x.tensor.aval().text(), axis, part.text(), at_line(x.where));
    attrs.axes.push_back(axis);
    operands.push_back(record(check, {position}, make_attrs(PositionAttrs{last}), x.where));
  }
  return record(op_named(name), operands, make_attrs(attrs), x.where);
}

}  // namespace

void register_positions(OpTable& table) {
  register_check(table);
  register_part(table, "slice_at", "x[b, p + i], with a position p for each of the axes", vjp_of_slice,
                "the same part of dx");
  register_part(table, "update_at", "x, with part[b, i] at [b, p + i]", vjp_of_update,
                "dx, with dpart in place of the part");
}

Tensor slice_at(const Located& x, const std::vector<AxisPosition>& position, const Shape& extents) {
  return part_at("slice_at", x, {x.tensor}, extents, position);
}

Tensor update_at(const Located& x, const Located& part, const std::vector<AxisPosition>& position) {
  return part_at("update_at", x, {x.tensor, part.tensor}, part.tensor.shape(), position);
}

}  // namespace lodestone::engine
