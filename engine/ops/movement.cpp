// SPDX-License-Identifier: Apache-2.0
// Rows and public functions of the ops that move elements without computing.
#include "engine/core/error.hpp"
#include "engine/graph/dtypes.hpp"
#include "engine/ops/attributes.hpp"
#include "engine/ops/batching.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/register.hpp"
#include "engine/ops/rules.hpp"
#include "engine/ops/sampler.hpp"

#include <algorithm>
#include <cstdlib>

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;

OpInfo movement(std::string name, std::string formula, std::function<Aval(const InferArgs&)> infer,
                Derivative derivative) {
  OpInfo row;
  row.name = std::move(name);
  row.formula = std::move(formula);
  row.dtypes = any_stored;
  row.infer = std::move(infer);
  row.derivative = std::move(derivative);
  row.op_class = OpClass::movement;
  row.stacks = true;
  row.flops = [](const InferArgs&, const Aval&) { return 0.0; };
  return row;
}

Aval with_shape(const Aval& aval, const Shape& shape) { return {shape, aval.dtype, aval.device}; }

void register_copy(OpTable& table) {
  OpInfo row = movement(
      "copy", "x, row-major without gaps", [](const InferArgs& args) { return args.aval(0); },
      linear("dx", [](R, const Tensor& cotangent, std::size_t) { return cotangent; }));
  row.axes = [](const AxisArgs& args) { return axis_by_axis(args); };
  row.sample = [](Sampler& sampler) { return Sample{{sampler.tensor(sampler.shape(0, 4), -2, 2)}, {}}; };
  table.add(std::move(row));
}

void register_transfer(OpTable& table) {
  OpInfo row = movement(
      "transfer", "x in the memory of another device",
      [](const InferArgs& args) {
        Aval result = args.aval(0);
        result.device = args.as<DeviceAttrs>().device;
        return result;
      },
      linear("dx there", [](R args, const Tensor& cotangent, std::size_t) {
        return copy_to(cotangent, args.in[0].device());
      }));
  row.axes = [](const AxisArgs& args) { return axis_by_axis(args); };
  row.sample = [](Sampler& sampler) {
    const Device other{Device::Kind::cpu, static_cast<std::uint8_t>(sampler.device() == cpu ? 1 : 0)};
    return Sample{{sampler.tensor(sampler.shape(0, 4), -2, 2)}, make_attrs(DeviceAttrs{other})};
  };
  table.add(std::move(row));
}

Aval infer_reshape(const InferArgs& args) {
  const Shape& shape = args.as<ShapeAttrs>().shape;
  if (shape.count() != args.aval(0).count()) {
    throw core::ShapeError("reshape#wrong_count", "expected a shape of {} elements for {}, got {} {}",
                           args.aval(0).count(), args.aval(0).text(), shape.text(), at_line(args.where));
  }
  return with_shape(args.aval(0), shape);
}

std::optional<Look> view_reshape(const Aval& in, const Look& look, const Attrs*, const Aval& out) {
  if (!look.is_contiguous(in.shape)) return std::nullopt;
  return Look{look.offset, contiguous_strides(out.shape)};
}

void register_reshape(OpTable& table) {
  OpInfo row = movement("reshape", "the elements of x in row-major order, in another shape", infer_reshape,
                        linear("dx in the same shape", [](R args, const Tensor& cotangent, std::size_t) {
                          return reshape(cotangent, args.in[0].shape());
                        }));
  row.axes = reshaped;
  row.sample = [](Sampler& sampler) {
    const Shape shape = sampler.shape(0, 4);
    const Shape flat{shape.count()};
    const Shape halved = shape.rank() > 0 && shape[0] % 2 == 0 ? Shape(shape.inserted(0, 2)) : flat;
    Shape target = sampler.chance(0.5) ? flat : halved;
    if (target.rank() == shape.rank() + 1 && shape.rank() > 0) target[1] = shape[0] / 2;
    return Sample{{sampler.tensor(shape, -2, 2)}, make_attrs(ShapeAttrs{target})};
  };
  row.view = view_reshape;
  table.add(std::move(row));
}

Axes inverse_order(const Axes& order) {
  Axes inverse = order;
  for (int i = 0; i < order.size(); ++i) inverse[static_cast<int>(order[i])] = i;
  return inverse;
}

std::optional<Look> view_transpose(const Aval&, const Look& look, const Attrs* attrs, const Aval&) {
  Look result{look.offset, {}};
  for (const Dim axis : attrs_as<TransposeAttrs>(*attrs).order)
    result.strides.push_back(look.strides[static_cast<int>(axis)]);
  return result;
}

void register_transpose(OpTable& table) {
  OpInfo row = movement(
      "transpose", "x with its axes in another order",
      [](const InferArgs& args) {
        check_rank(args, args.as<TransposeAttrs>().order.size());
        Shape shape;
        for (const Dim axis : args.as<TransposeAttrs>().order)
          shape.push_back(args.aval(0).shape[static_cast<int>(axis)]);
        return with_shape(args.aval(0), shape);
      },
      linear("dx with its axes in that order", [](R args, const Tensor& cotangent, std::size_t) {
        return transpose(cotangent, inverse_order(args.as<TransposeAttrs>().order));
      }));
  row.axes = [](const AxisArgs& args) {
    AxisMap map = needing_all(args, Label::Kind::free);
    for (int label = 0; const Dim axis : args.as<TransposeAttrs>().order) map.set(0, axis, same_as(label++));
    return map;
  };
  row.sample = [](Sampler& sampler) {
    const Shape shape = sampler.shape(0, 4);
    Axes order = IntList::counting(shape.rank());
    for (int i = shape.rank() - 1; i > 0; --i)
      std::swap(order[i], order[static_cast<int>(sampler.integer(0, i))]);
    return Sample{{sampler.tensor(shape, -2, 2)}, make_attrs(TransposeAttrs{order})};
  };
  row.view = view_transpose;
  table.add(std::move(row));
}

/// Sums a tensor of the broadcast shape back to the shape it came from.
Tensor sum_to(const Tensor& x, const Shape& shape) {
  const int added = x.rank() - shape.rank();
  Axes axes = IntList::counting(added);
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] == 1 && x.shape()[added + axis] != 1) axes.push_back(added + axis);
  }
  return reshape(axes.empty() ? x : sum(x, axes), shape);
}

AxisMap axes_of_broadcast(const AxisArgs& args) {
  const Shape &in = args.in[0].shape, &out = args.out.shape;
  const int added = out.rank() - in.rank();
  AxisMap map = needing_all(args, Label::Kind::free);
  for (int axis = 0; axis < in.rank(); ++axis) {
    if (in[axis] == out[added + axis]) map.set(0, axis, same_as(added + axis));
  }
  return map;
}

std::optional<Look> view_broadcast(const Aval& in, const Look& look, const Attrs*, const Aval& out) {
  const int added = out.shape.rank() - in.shape.rank();
  Look result{look.offset, IntList::filled(out.shape.rank(), 0)};
  for (int axis = 0; axis < in.shape.rank(); ++axis) {
    if (in.shape[axis] == out.shape[added + axis]) result.strides[added + axis] = look.strides[axis];
  }
  return result;
}

void register_broadcast(OpTable& table) {
  OpInfo row = movement(
      "broadcast_to", "x repeated along new leading axes and along axes of extent 1",
      [](const InferArgs& args) {
        const Shape& shape = args.as<ShapeAttrs>().shape;
        const Aval& in = args.aval(0);
        const int added = shape.rank() - in.shape.rank();
        bool fits = added >= 0;
        for (int axis = 0; fits && axis < in.shape.rank(); ++axis)
          fits = in.shape[axis] == 1 || in.shape[axis] == shape[added + axis];
        if (!fits)
          throw core::ShapeError("broadcast_to#does_not_broadcast",
                                 "expected a shape that {} broadcasts to, got {} {}", in.text(), shape.text(),
                                 at_line(args.where));
        return with_shape(in, shape);
      },
      linear("dx repeated", [](R args, const Tensor& cotangent, std::size_t) {
        return sum_to(cotangent, args.in[0].shape());
      }));
  row.batch = [](R args, const std::vector<bool>&) {
    const Shape& shape = args.as<ShapeAttrs>().shape;
    Shape aligned = args.in[0].shape();  // the batch, then as many axes as the target
    while (aligned.rank() < shape.rank() + 1) aligned = aligned.inserted(1, 1);
    return broadcast_to({reshape({args.in[0], args.where}, aligned), args.where},
                        shape.inserted(0, aligned[0]));
  };
  row.axes = axes_of_broadcast;
  row.stacks = false;  // only where no axis is added in front
  row.sample = [](Sampler& sampler) {
    const Shape shape = sampler.shape(0, 4);
    Shape from = shape;
    for (int axis = 0; axis < shape.rank(); ++axis) from[axis] = sampler.chance(0.4) ? 1 : shape[axis];
    while (from.rank() > 0 && sampler.chance(0.3)) from = from.erased(0);
    return Sample{{sampler.tensor(from, -2, 2)}, make_attrs(ShapeAttrs{shape})};
  };
  row.view = view_broadcast;
  table.add(std::move(row));
}

/// Puts the elements of `slice` back where they came from, zeros elsewhere.
Tensor unslice(const Tensor& part, const Shape& shape, const SliceAttrs& attrs) {
  Tensor result = part;
  IntList low, high, inside;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const Dim count = attrs.count[axis], step = std::abs(attrs.step[axis]);
    const Dim span = count > 0 ? (count - 1) * step + 1 : 0;
    const Dim first = attrs.step[axis] > 0 ? attrs.first[axis] : attrs.first[axis] - span + 1;
    if (attrs.step[axis] < 0 && count > 0) result = flip(result, axis);
    low.push_back(count > 0 ? first : 0);
    high.push_back(count > 0 ? shape[axis] - first - span : shape[axis]);
    inside.push_back(step - 1);
  }
  return pad(result, low, high, inside);
}

Aval infer_slice(const InferArgs& args) {
  const auto& [first, count, step] = args.as<SliceAttrs>();
  const Shape& shape = args.aval(0).shape;
  check_rank(args, count.size());
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const Dim last = first[axis] + (count[axis] - 1) * step[axis];
    if (count[axis] < 0 || (count[axis] > 0 && std::min(first[axis], last) < 0) ||
        (count[axis] > 0 && std::max(first[axis], last) >= shape[axis]))
      throw core::ShapeError("slice#elements_out_of_range",
                             "expected elements {} … {} of axis {} to exist, got {} {}", first[axis], last,
                             axis, args.aval(0).text(), at_line(args.where));
  }
  return with_shape(args.aval(0), count);
}

std::optional<Look> view_slice(const Aval&, const Look& look, const Attrs* any, const Aval& out) {
  const auto& attrs = attrs_as<SliceAttrs>(*any);
  Look result = look;
  for (int axis = 0; axis < out.shape.rank(); ++axis) {
    if (out.count() > 0) result.offset += attrs.first[axis] * look.strides[axis];
    result.strides[axis] *= attrs.step[axis];
  }
  return result;
}

void register_slice(OpTable& table) {
  OpInfo row = movement("slice", "elements first, first + step, … of each axis", infer_slice,
                        linear("the same elements of dx", [](R args, const Tensor& cotangent, std::size_t) {
                          return unslice(cotangent, args.in[0].shape(), args.as<SliceAttrs>());
                        }));
  row.axes = [](const AxisArgs& args) {
    const auto& [first, count, step] = args.as<SliceAttrs>();
    const Shape& shape = args.in[0].shape;
    AxisMap map = axis_by_axis(args);
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (first[axis] != 0 || count[axis] != shape[axis] || step[axis] != 1)
        map.set(0, axis, affine_in(axis, step[axis], first[axis]));
    }
    return map;
  };
  row.sample = [](Sampler& sampler) {
    const Shape shape = sampler.shape(0, 4);
    SliceAttrs attrs;
    for (const Dim dim : shape) {
      const Dim step = sampler.integer(1, 3), first = dim > 0 ? sampler.integer(0, dim - 1) : 0;
      const Dim most = dim > 0 ? (dim - 1 - first) / step + 1 : 0, count = sampler.integer(0, most);
      const bool reversed = sampler.chance(0.3) && count > 0;
      attrs.first.push_back(reversed ? first + (count - 1) * step : first);
      attrs.count.push_back(count);
      attrs.step.push_back(reversed ? -step : step);
    }
    return Sample{{sampler.tensor(shape, -2, 2)}, make_attrs(attrs)};
  };
  row.view = view_slice;
  table.add(std::move(row));
}

Dim padded_extent(Dim extent, Dim low, Dim high, Dim inside) {
  return low + high + extent + std::max<Dim>(extent - 1, 0) * inside;
}

Tensor unpad(const Tensor& padded, const Shape& shape, const PadAttrs& attrs) {
  IntList low, high;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    low.push_back(-attrs.low[axis]);
    high.push_back(-attrs.high[axis]);
  }
  Tensor result = pad(padded, low, high);
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (attrs.inside[axis] > 0) result = slice(result, axis, 0, result.shape()[axis], attrs.inside[axis] + 1);
  }
  return result;
}

void register_pad(OpTable& table) {
  Derivative derivative;
  derivative.formula = "dx with zeros around";
  derivative.jvp = [](R args, std::span<const Tensor> tangents) {
    const auto& attrs = args.as<PadAttrs>();
    return pad(tangents[0], attrs.low, attrs.high, attrs.inside);
  };
  derivative.vjp = [](R args, const Tensor& cotangent, std::size_t) {
    return unpad(cotangent, args.in[0].shape(), args.as<PadAttrs>());
  };
  OpInfo row = movement(
      "pad", "x with a value around and between its elements",
      [](const InferArgs& args) {
        const auto& attrs = args.as<PadAttrs>();
        check_rank(args, attrs.low.size());
        Shape shape = args.aval(0).shape;
        for (int axis = 0; axis < shape.rank(); ++axis) {
          if (attrs.inside[axis] < 0)
            throw core::ShapeError("pad#negative_gap",
                                   "expected 0 or more elements between those of axis {}, got {} {}", axis,
                                   attrs.inside[axis], at_line(args.where));
          shape[axis] = padded_extent(shape[axis], attrs.low[axis], attrs.high[axis], attrs.inside[axis]);
          if (shape[axis] < 0)
            throw core::ShapeError(
                "pad#cropped_too_much",
                "expected to crop at most the {} elements of axis {}, got low {} and high {} {}",
                args.aval(0).shape[axis], axis, attrs.low[axis], attrs.high[axis], at_line(args.where));
        }
        return with_shape(args.aval(0), shape);
      },
      derivative);
  row.axes = [](const AxisArgs& args) {
    const auto& attrs = args.as<PadAttrs>();
    AxisMap map = axis_by_axis(args);
    for (int axis = 0; axis < attrs.low.size(); ++axis) {
      if (attrs.low[axis] != 0 || attrs.high[axis] != 0 || attrs.inside[axis] != 0)
        map.set(0, axis, inverse_in(axis, attrs.inside[axis] + 1, attrs.low[axis]));
    }
    return map;
  };
  row.sample = [](Sampler& sampler) {
    const Shape shape = sampler.shape(0, 4);
    PadAttrs attrs;
    for (const Dim dim : shape) {
      attrs.inside.push_back(sampler.chance(0.3) ? sampler.integer(1, 2) : 0);
      attrs.low.push_back(dim > 0 ? sampler.integer(-1, 3) : 0);
      attrs.high.push_back(dim > 1 ? sampler.integer(-1, 3) : 1);
    }
    attrs.value = core::is_integer(sampler.dtype()) ? 1.0 : 0.5;
    return Sample{{sampler.tensor(shape, -2, 2)}, make_attrs(attrs)};
  };
  table.add(std::move(row));
}

void register_concatenate(OpTable& table) {
  OpInfo row = movement(
      "concatenate", "tensors one after another along an axis",
      [](const InferArgs& args) {
        const int axis = args.as<AxisAttrs>().axis;
        check_axis(args, axis);
        Aval result = args.aval(0);
        for (std::size_t i = 1; i < args.in.size(); ++i) {
          Shape expected = result.shape;
          const Aval& part = args.aval(i);
          if (part.shape.rank() == expected.rank()) expected[axis] = part.shape[axis];
          if (!(part.shape == expected) || part.dtype != result.dtype) {
            throw core::ShapeError("concatenate#parts_differ",
                                   "expected parts that differ along axis {} only, got {} and {} {}", axis,
                                   args.aval(0).text(), part.text(), at_line(args.where));
          }
          result.shape[axis] += part.shape[axis];
        }
        return result;
      },
      linear("dx one after another", [](R args, const Tensor& cotangent, std::size_t which) {
        const int axis = args.as<AxisAttrs>().axis;
        Dim first = 0;
        for (std::size_t i = 0; i < which; ++i) first += args.in[i].shape()[axis];
        return slice(cotangent, axis, first, first + args.in[which].shape()[axis]);
      }));
  row.n_inputs = -1;
  row.axes = [](const AxisArgs& args) {
    const int axis = args.as<AxisAttrs>().axis;
    AxisMap map = axis_by_axis(args);
    Dim first = 0;
    for (std::size_t i = 0; i < args.in.size(); first += args.in[i++].shape[axis])
      map.set(i, axis, affine_in(axis, 1, -first));
    return map;
  };
  row.sample = [](Sampler& sampler) {
    const Shape shape = sampler.shape(1, 4);
    const auto axis = static_cast<int>(sampler.integer(0, shape.rank() - 1));
    Sample sample{{}, make_attrs(AxisAttrs{axis})};
    for (Dim i = sampler.integer(1, 4); i > 0; --i) {
      Shape part = shape;
      part[axis] = sampler.integer(0, 4);
      sample.inputs.push_back(sampler.tensor(part, -2, 2));
    }
    return sample;
  };
  table.add(std::move(row));
}

}  // namespace

void register_movement(OpTable& table) {
  register_copy(table);
  register_transfer(table);
  register_reshape(table);
  register_transpose(table);
  register_broadcast(table);
  register_slice(table);
  register_pad(table);
  register_concatenate(table);
}

Tensor copy_to(const Located& x, Device device) {
  static const OpInfo& op = op_named("transfer");
  return x.tensor.device() == device ? x.tensor
                                     : record(op, {x.tensor}, make_attrs(DeviceAttrs{device}), x.where);
}

Tensor reshape(const Located& x, const Shape& shape) {
  static const OpInfo& op = op_named("reshape");
  Shape known = shape;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] != -1) continue;
    known[axis] = 1;
    known[axis] =
        x.tensor.count() /
        std::max<std::int64_t>(known.count(), 1);  // a second -1 or a remainder is found by the shape rule
  }
  if (known == x.tensor.shape()) return x.tensor;
  return record(op, {x.tensor}, make_attrs(ShapeAttrs{known}), x.where);
}

Tensor transpose(const Located& x, std::optional<Axes> order) {
  static const OpInfo& op = op_named("transpose");
  const int rank = x.tensor.rank();
  Axes counted;
  for (int i = 0; i < rank && !order; ++i) counted.push_back(rank - 1 - i);
  if (order) {
    if (counted_axes("transpose", *order, rank, x.where).size() != rank) {
      throw core::ShapeError("transpose#no_permutation", "expected each of the {} axes of {} once, got {} {}",
                             rank, x.tensor.aval().text(), order->text(), at_line(x.where));
    }
    for (const Dim axis : *order) counted.push_back(counted_axis("transpose", axis, rank, x.where));
  }
  if (counted == IntList::counting(rank)) return x.tensor;
  return record(op, {x.tensor}, make_attrs(TransposeAttrs{counted}), x.where);
}

Tensor broadcast_to(const Located& x, const Shape& shape) {
  static const OpInfo& op = op_named("broadcast_to");
  return x.tensor.shape() == shape ? x.tensor
                                   : record(op, {x.tensor}, make_attrs(ShapeAttrs{shape}), x.where);
}

Tensor expand_dims(const Located& x, int axis) {
  return reshape(
      x, x.tensor.shape().inserted(counted_axis("expand_dims", axis, x.tensor.rank() + 1, x.where), 1));
}

Tensor squeeze(const Located& x, int axis) {
  const int counted = counted_axis("squeeze", axis, x.tensor.rank(), x.where);
  if (x.tensor.shape()[counted] != 1)
    throw core::ShapeError("squeeze#extent_not_one", "expected extent 1 of axis {}, got {} {}", axis,
                           x.tensor.aval().text(), at_line(x.where));
  return reshape(x, x.tensor.shape().erased(counted));
}

namespace {
SliceAttrs whole(const Shape& shape) {
  return {IntList::filled(shape.rank(), 0), shape, IntList::filled(shape.rank(), 1)};
}
}  // namespace

Tensor slice(const Located& x, int axis, Dim first, Dim last, Dim step) {
  static const OpInfo& op = op_named("slice");
  const Shape& shape = x.tensor.shape();
  const int at = counted_axis("slice", axis, shape.rank(), x.where);
  const Dim begin = first < 0 ? first + shape[at] : first, end = last < 0 ? last + shape[at] : last;
  if (step < 1 || begin < 0 || end > shape[at] || begin > end) {
    throw core::ShapeError("slice#wrong_range",
                           "expected a range within axis {} of {} and a positive step, got {} to {} by {} {}",
                           axis, x.tensor.aval().text(), first, last, step, at_line(x.where));
  }
  SliceAttrs attrs = whole(shape);
  attrs.first[at] = begin;
  attrs.count[at] = (end - begin + step - 1) / step;
  attrs.step[at] = step;
  return record(op, {x.tensor}, make_attrs(attrs), x.where);
}

Tensor flip(const Located& x, int axis) {
  static const OpInfo& op = op_named("slice");
  const Shape& shape = x.tensor.shape();
  const int at = counted_axis("flip", axis, shape.rank(), x.where);
  SliceAttrs attrs = whole(shape);
  attrs.first[at] = std::max<Dim>(shape[at] - 1, 0);
  attrs.step[at] = -1;
  return record(op, {x.tensor}, make_attrs(attrs), x.where);
}

Tensor pad(const Located& x, const IntList& low, const IntList& high, const IntList& inside, double value) {
  static const OpInfo& op = op_named("pad");
  const int rank = x.tensor.rank();
  const IntList between = inside.empty() ? IntList::filled(rank, 0) : inside;
  if (low.size() != rank || high.size() != rank || between.size() != rank) {
    throw core::ShapeError("pad#wrong_list_length",
                           "expected {} numbers each for {}, got low {}, high {}, inside {} {}", rank,
                           x.tensor.aval().text(), low.text(), high.text(), inside.text(), at_line(x.where));
  }
  const IntList none = IntList::filled(rank, 0);
  if (low == none && high == none && between == none) return x.tensor;
  return record(op, {x.tensor}, make_attrs(PadAttrs{low, high, between, value}), x.where);
}

Tensor concatenate(std::span<const Tensor> parts, int axis, std::source_location where) {
  static const OpInfo& op = op_named("concatenate");
  if (parts.empty())
    throw core::InvalidArgument("concatenate#no_tensors",
                                "expected at least one tensor, but the list is empty {}", at_line(where));
  return record(op, parts, make_attrs(AxisAttrs{counted_axis("concatenate", axis, parts[0].rank(), where)}),
                where);
}

}  // namespace lodestone::engine
