// SPDX-License-Identifier: Apache-2.0
// gather and scatter_add are each other's adjoints: out[b, p, i, q] = x[b, p, index[b, i], q] and the sum
// that undoes it.
#include "engine/ops/indexing.hpp"

#include "engine/core/error.hpp"
#include "engine/ops/attributes.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/register.hpp"
#include "engine/ops/rules.hpp"
#include "engine/ops/sampler.hpp"

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;

/// shape[first … last − 1] behind `to`.
void append(Shape& to, const Shape& shape, int first, int last) {
  for (int axis = first; axis < last; ++axis) to.push_back(shape[axis]);
}

void check_indices(const InferArgs& args, bool fits) {
  if (!index_dtypes.contains(args.aval(1).dtype))
    throw core::InvalidArgument(args.op.name + "#wrong_index_dtype", "expected {} as indices, got {} {}",
                                index_dtypes.text(), args.aval(1).text(), at_line(args.where));
  if (!fits)
    throw core::ShapeError(args.op.name + "#operands_do_not_fit",
                           "expected elements and indices that fit {}, got {} and {} {}", args.attrs->text(),
                           args.aval(0).text(), args.aval(1).text(), at_line(args.where));
}

/// Returns true if the first n axes agree.
bool same_batch(const Shape& a, const Shape& b, int n) {
  bool same = a.rank() >= n && b.rank() >= n;
  for (int axis = 0; same && axis < n; ++axis) same = a[axis] == b[axis];
  return same;
}

Aval infer_gather(const InferArgs& args) {
  const auto& [batch, axis, extent] = args.as<IndexAttrs>();
  const Shape &x = args.aval(0).shape, &index = args.aval(1).shape;
  check_indices(args, axis >= batch && axis < x.rank() && x[axis] == extent && same_batch(x, index, batch));
  Aval result = args.aval(0);
  result.shape = {};
  append(result.shape, x, 0, axis);
  append(result.shape, index, batch, index.rank());
  append(result.shape, x, axis + 1, x.rank());
  return result;
}

Aval infer_scatter(const InferArgs& args) {
  const auto& [batch, axis, extent] = args.as<IndexAttrs>();
  const Shape &updates = args.aval(0).shape, &index = args.aval(1).shape;
  const int n = index.rank() - batch;
  bool fits = n >= 0 && axis >= batch && axis + n <= updates.rank() && same_batch(updates, index, batch);
  for (int i = 0; fits && i < n; ++i) fits = updates[axis + i] == index[batch + i];
  check_indices(args, fits);
  Aval result = args.aval(0);
  result.shape = {};
  append(result.shape, updates, 0, axis);
  result.shape.push_back(extent);
  append(result.shape, updates, axis + n, updates.rank());
  return result;
}

/// Labels are the axes of the output [b, p, i, q]; of x [b, p, j, q], the index names j.
AxisMap axes_of_gather(const AxisArgs& args) {
  const auto& [batch, at, extent] = args.as<IndexAttrs>();
  const int n = args.in[1].shape.rank() - batch;
  AxisMap map = needing_all(args, Label::Kind::free);
  for (int axis = 0; axis < n + batch; ++axis)
    map.set(1, axis, same_as(axis < batch ? axis : axis - batch + at));
  for (int axis = 0; axis < args.in[0].shape.rank(); ++axis)
    map.set(0, axis, same_as(axis < at ? axis : axis - 1 + n));
  map.set(0, at, {.how = AxisAccess::How::indexed});
  return map;
}

/// Labels are the axes of the output [b, p, j, q], and i of x [b, p, i, q], which is summed over.
AxisMap axes_of_scatter(const AxisArgs& args) {
  const auto& [batch, at, extent] = args.as<IndexAttrs>();
  const Shape &x = args.in[0].shape, &index = args.in[1].shape;
  const int n_out = args.out.shape.rank(), n = index.rank() - batch;
  AxisMap map = needing_all(args, Label::Kind::free);
  map.labels[static_cast<std::size_t>(at)].kind = Label::Kind::whole;
  for (int i = 0; i < n; ++i) map.add(Label::Kind::reduced, index[batch + i]);
  for (int axis = 0; axis < n + batch; ++axis)
    map.set(1, axis, same_as(axis < batch ? axis : axis - batch + n_out));
  for (int axis = 0; axis < x.rank(); ++axis)
    map.set(0, axis, same_as(axis < at ? axis : axis < at + n ? axis - at + n_out : axis - n + 1));
  return map;
}

/// Linear in the elements; the indices have no slope. The adjoint is the other op.
Derivative of_elements(std::string formula, std::string_view adjoint) {
  Derivative result;
  result.formula = std::move(formula);
  result.jvp = [](R args, std::span<const Tensor> tangents) {
    return tangents[0].is_valid() ? args.again(Tensors{tangents[0], args.in[1]}) : Tensor();
  };
  result.vjp = [adjoint](R args, const Tensor& cotangent, std::size_t which) {
    return which == 0 ? record(op_named(adjoint), {cotangent, args.in[1]}, args.attrs, args.where) : Tensor();
  };
  return result;
}

struct IndexSample {
  Shape x, index, taken;
  IndexAttrs attrs;
};
IndexSample draw(Sampler& sampler) {
  IndexSample result;
  result.x = sampler.shape(1, 3);
  auto& [batch, axis, extent] = result.attrs;
  axis = static_cast<int>(sampler.integer(0, result.x.rank() - 1));
  batch = sampler.chance(0.5) ? 0 : static_cast<int>(sampler.integer(0, axis));
  extent = std::max<Dim>(result.x[axis], 2);
  result.x[axis] = extent;
  append(result.index, result.x, 0, batch);
  append(result.taken, result.x, 0, axis);
  for (const Dim dim : sampler.shape(0, 2)) {
    result.index.push_back(dim);
    result.taken.push_back(dim);
  }
  append(result.taken, result.x, axis + 1, result.x.rank());
  return result;
}

void register_gather(OpTable& table) {
  OpInfo gather;
  gather.name = "gather";
  gather.formula = "x[b, p, index[b, i], q]";
  gather.n_inputs = 2;
  gather.dtypes = any_computed;
  gather.infer = infer_gather;
  gather.derivative = of_elements("dx[b, p, index[b, i], q]", "scatter_add");
  gather.op_class = OpClass::movement;
  gather.axes = axes_of_gather;
  gather.stacks = true;
  gather.stacks_alone = 0b11;
  gather.checks_values = true;
  gather.sample = [](Sampler& sampler) {
    const IndexSample drawn = draw(sampler);
    const Tensor index = sampler.tensor(drawn.index, 0, static_cast<double>(drawn.attrs.extent - 1),
                                        sampler.chance(0.5) ? DType::i32 : DType::i64);
    return Sample{{sampler.tensor(drawn.x, -2, 2), index}, make_attrs(drawn.attrs)};
  };
  OpInfo scatter = gather;
  table.add(std::move(gather));
  scatter.name = "scatter_add";
  scatter.formula = "y[b, p, j, q] = Σ_i x[b, p, i, q] where index[b, i] = j";
  scatter.dtypes = numbers;
  scatter.infer = infer_scatter;
  scatter.derivative = of_elements("the same sum of dx", "gather");
  scatter.op_class = OpClass::reduction;
  scatter.axes = axes_of_scatter;
  scatter.stacks_alone = 0b01;  // indices of its own mean repeated updates
  scatter.sample = [](Sampler& sampler) {
    const IndexSample drawn = draw(sampler);
    const Tensor index =
        sampler.tensor(drawn.index, 0, static_cast<double>(drawn.attrs.extent - 1), DType::i64);
    return Sample{{sampler.tensor(drawn.taken, -2, 2), index}, make_attrs(drawn.attrs)};
  };
  table.add(std::move(scatter));
}

void register_arg(OpTable& table, std::string name, std::string formula) {
  OpInfo row;
  row.name = std::move(name);
  row.formula = std::move(formula);
  row.dtypes = reals;
  row.infer = [](const InferArgs& args) {
    Aval result = args.aval(0);
    const int axis = args.as<AxisAttrs>().axis;
    check_axis(args, axis);
    if (result.shape[axis] == 0)
      throw core::ShapeError(args.op.name + "#empty_axis",
                             "expected at least one element along axis {}, got {} {}", axis, result.text(),
                             at_line(args.where));
    result.shape = result.shape.erased(axis);
    result.dtype = DType::i64;
    return result;
  };
  row.derivative = no_derivative("its result is an integer");
  row.op_class = OpClass::reduction;
  row.axes = [](const AxisArgs& args) { return without_axes(args, {args.as<AxisAttrs>().axis}); };
  row.exact_when_cut = true;
  row.stacks = true;
  row.sample = [](Sampler& sampler) {
    Shape shape = sampler.shape(1, 4);
    const auto axis = static_cast<int>(sampler.integer(0, shape.rank() - 1));
    shape[axis] = std::max<Dim>(shape[axis], 1);
    return Sample{{sampler.tensor(shape, -2, 2)}, make_attrs(AxisAttrs{axis})};
  };
  table.add(std::move(row));
}

void register_iota(OpTable& table) {
  OpInfo row;
  row.name = "iota";
  row.formula = "0, 1, 2, …";
  row.n_inputs = 0;
  row.dtypes = numbers;
  row.infer = [](const InferArgs& args) {
    const auto& [count, dtype, device] = args.as<IotaAttrs>();
    if (count < 0 || !args.op.dtypes.contains(dtype))
      throw core::InvalidArgument("iota#wrong_count_or_dtype",
                                  "expected a count >= 0 and one of {}, got {} and {} {}",
                                  args.op.dtypes.text(), count, core::name_of(dtype), at_line(args.where));
    return Aval{{count}, dtype, device};
  };
  row.derivative = no_derivative("it has no inputs");
  row.sample = [](Sampler& sampler) {
    return Sample{{}, make_attrs(IotaAttrs{sampler.integer(0, 100), sampler.dtype(), sampler.device()})};
  };
  table.add(std::move(row));
}

Tensor arg_extremum(const OpInfo& op, const Located& x, std::optional<int> axis) {
  const Tensor flat = axis ? x.tensor : reshape(x, {x.tensor.count()});
  return record(op, {flat},
                make_attrs(AxisAttrs{counted_axis(op.name, axis.value_or(0), flat.rank(), x.where)}),
                x.where);
}

}  // namespace

void register_indexing(OpTable& table) {
  register_gather(table);
  register_arg(table, "argmax", "index of the largest x along an axis, the first of equals");
  register_arg(table, "argmin", "index of the smallest x along an axis, the first of equals");
  register_iota(table);
}

Tensor take(const Located& x, const Located& indices, int axis) {
  static const OpInfo& op = op_named("gather");
  const int at = counted_axis("take", axis, x.tensor.rank(), x.where);
  return record(op, {x.tensor, indices.tensor}, make_attrs(IndexAttrs{0, at, x.tensor.shape()[at]}), x.where);
}

Tensor take_along_axis(const Located& x, const Located& indices, int axis) {
  static const OpInfo& op = op_named("gather");
  const int rank = x.tensor.rank(), at = counted_axis("take_along_axis", axis, rank, x.where);
  const Axes last = IntList::counting(rank).erased(at).inserted(
      rank - 1, at);  // the axis goes to the end, all others are batch
  const Tensor taken = record(op, {transpose(x, last), transpose(indices, last)},
                              make_attrs(IndexAttrs{rank - 1, rank - 1, x.tensor.shape()[at]}), x.where);
  return transpose({taken, x.where}, IntList::counting(rank - 1).inserted(at, rank - 1));
}

Tensor scatter_add(const Located& x, const Located& indices, const Located& updates, int axis) {
  static const OpInfo& op = op_named("scatter_add");
  const int at = counted_axis("scatter_add", axis, x.tensor.rank(), x.where);
  const Tensor sums = record(op, {updates.tensor, indices.tensor},
                             make_attrs(IndexAttrs{0, at, x.tensor.shape()[at]}), x.where);
  if (!(sums.shape() == x.tensor.shape()))
    throw core::ShapeError("scatter_add#wrong_updates",
                           "expected updates [before…, i…, behind…] for {} and indices {}, got {} {}",
                           x.tensor.aval().text(), indices.tensor.aval().text(), updates.tensor.aval().text(),
                           at_line(x.where));
  return add({x.tensor, x.where}, sums);
}

Tensor argmax(const Located& x, std::optional<int> axis) {
  static const OpInfo& op = op_named("argmax");
  return arg_extremum(op, x, axis);
}

Tensor argmin(const Located& x, std::optional<int> axis) {
  static const OpInfo& op = op_named("argmin");
  return arg_extremum(op, x, axis);
}

Tensor iota(Dim n, DType dtype, Device device, std::source_location where) {
  static const OpInfo& op = op_named("iota");
  return record(op, {}, make_attrs(IotaAttrs{n, dtype, device}), where);
}

Tensor one_hot(const Located& indices, Dim n, DType dtype) {
  const Tensor& index = indices.tensor;
  return cast(
      equal({expand_dims(indices, -1), indices.where}, iota(n, index.dtype(), index.device(), indices.where)),
      dtype);
}

Tensor linspace(double first, double last, Dim n, DType dtype, Device device) {
  if (n < 2 || !core::is_float(dtype))
    throw core::InvalidArgument("linspace#wrong_count_or_dtype",
                                "expected at least 2 points and a floating dtype, got {} and {}", n,
                                core::name_of(dtype));
  return iota(n, dtype, device) * ((last - first) / static_cast<double>(n - 1)) + first;
}

}  // namespace lodestone::engine
