// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/more.hpp"

#include "engine/core/error.hpp"
#include "engine/ops/attributes.hpp"
#include "engine/ops/composite.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/register.hpp"
#include "engine/ops/rules.hpp"
#include "engine/ops/sampler.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;

/// What e^x is divided by before it is summed: the largest x, or nothing where that is infinite. A constant
/// for the derivative.
Tensor shift_of(const Tensor& x, const std::optional<Axes>& axes) {
  const Tensor largest = stop_gradient(max(x, axes, Keep::yes));
  return select(is_finite(largest), largest, 0.0);
}

Tensor decompose_softmax(R args) {
  const Axes axes{args.as<AxisAttrs>().axis};
  const Tensor e = exp(args.in[0] - shift_of(args.in[0], axes));
  return e / sum(e, axes, Keep::yes);
}

Tensor decompose_log_softmax(R args) {
  const Axes axes{args.as<AxisAttrs>().axis};
  const Tensor shifted_x = args.in[0] - shift_of(args.in[0], axes);
  return shifted_x - log(sum(exp(shifted_x), axes, Keep::yes));
}

OpInfo along_axis(std::string name, std::string formula, Tensor (*decompose)(R), Derivative derivative) {
  OpInfo row = composite(std::move(name), std::move(formula), 1, real_floats, decompose);
  row.derivative = std::move(derivative);
  row.infer = [](const InferArgs& args) {
    const int axis = args.as<AxisAttrs>().axis;
    check_axis(args, axis);
    if (args.aval(0).shape[axis] == 0)
      throw core::ShapeError(args.op.name, "expected at least one element along axis {}, got {} {}", axis,
                             args.aval(0).text(), at_line(args.where));
    return args.aval(0);
  };
  row.accepts = [](const InferArgs& args) {
    return args.as<AxisAttrs>().axis == args.aval(0).shape.rank() - 1;
  };
  row.batch = [](R args, const std::vector<bool>&) {
    return record(args.op, args.in, make_attrs(AxisAttrs{args.as<AxisAttrs>().axis + 1}), args.where);
  };
  row.sample = [](Sampler& sampler) {
    Shape shape = sampler.shape(1, 4);
    const int axis =
        sampler.chance(0.6) ? shape.rank() - 1 : static_cast<int>(sampler.integer(0, shape.rank() - 1));
    shape[axis] = std::max<Dim>(shape[axis], 1);
    return Sample{{sampler.tensor(shape, -3, 3)}, make_attrs(AxisAttrs{axis})};
  };
  return row;
}

Tensor summed(R args, const Tensor& t) { return sum(t, Axes{args.as<AxisAttrs>().axis}, Keep::yes); }

Tensor along(const OpInfo& op, const Located& x, int axis) {
  return record(op, {x.tensor}, make_attrs(AxisAttrs{counted_axis(op.name, axis, x.tensor.rank(), x.where)}),
                x.where);
}

/// [n, m] of indices: column − row.
Tensor diagonals(Dim n, Dim m, Device device) {
  return iota(m, DType::i64, device) - expand_dims(iota(n, DType::i64, device), 1);
}

void check_matrix(std::string_view what, const Located& x) {
  if (x.tensor.rank() < 2)
    throw core::ShapeError(what, "expected matrices [batch…, n, m], got {} {}", x.tensor.aval().text(),
                           at_line(x.where));
}

}  // namespace

void register_more(OpTable& table) {
  Derivative of_softmax;
  of_softmax.formula = "y (dx - Σ y dx)";
  of_softmax.jvp = [](R args, std::span<const Tensor> t) {
    return args.out * (t[0] - summed(args, args.out * t[0]));
  };
  of_softmax.vjp = [](R args, const Tensor& c, std::size_t) {
    return args.out * (c - summed(args, args.out * c));
  };
  table.add(along_axis("softmax", "e^x / Σ e^x", decompose_softmax, of_softmax));
  Derivative of_log;
  of_log.formula = "dx - Σ e^y dx";
  of_log.jvp = [](R args, std::span<const Tensor> t) { return t[0] - summed(args, exp(args.out) * t[0]); };
  of_log.vjp = [](R args, const Tensor& c, std::size_t) { return c - exp(args.out) * summed(args, c); };
  table.add(along_axis("log_softmax", "x - ln Σ e^x", decompose_log_softmax, of_log));
}

Tensor clip(const Located& x, const Operand& low, const Operand& high) {
  return minimum({maximum({x.tensor, x.where}, low), x.where}, high);
}

// As a choice its slope is one op; the condition is written so that NaN comes through.
Tensor relu(const Located& x) {
  return select({less_equal({x.tensor, x.where}, 0.0), x.where}, 0.0, x.tensor);
}

Tensor softplus(const Located& x) { return maximum({x.tensor, x.where}, 0.0) + log1p(exp(-abs(x))); }

Tensor logsumexp(const Located& x, std::optional<Axes> axes, Keep keep) {
  const Tensor shift = shift_of(x.tensor, axes);
  const Tensor total = log(sum(exp(x.tensor - shift), axes, Keep::yes)) + shift;
  return keep == Keep::yes ? total : reshape(total, sum(x, std::move(axes)).shape());
}

Tensor variance(const Located& x, std::optional<Axes> axes, Keep keep, double correction) {
  const Tensor centred = x.tensor - mean(x, axes, Keep::yes);
  const Tensor total = sum(squared_modulus(centred), std::move(axes), keep);
  const double n =
      static_cast<double>(x.tensor.count()) / static_cast<double>(std::max<std::int64_t>(total.count(), 1));
  if (n <= correction)
    throw core::ShapeError("variance", "expected more than {} elements, got {} of {} {}", correction, n,
                           x.tensor.aval().text(), at_line(x.where));
  return total / (n - correction);
}

Tensor standard_deviation(const Located& x, std::optional<Axes> axes, Keep keep, double correction) {
  return sqrt(variance(x, std::move(axes), keep, correction));
}

Tensor squared_modulus(const Located& x) {
  if (!core::is_complex(x.tensor.dtype())) return square(x);
  return square({real(x), x.where}) + square({imag(x), x.where});
}

Tensor norm(const Located& x, std::optional<Axes> axes, Keep keep) {
  const Tensor total = sum(squared_modulus({x.tensor, x.where}), std::move(axes), keep);
  const Tensor is_zero = equal(total, 0.0);
  return select(is_zero, 0.0, sqrt(select(is_zero, 1.0, total)));
}

Tensor softmax(const Located& x, int axis) {
  static const OpInfo& op = op_named("softmax");
  return along(op, x, axis);
}

Tensor log_softmax(const Located& x, int axis) {
  static const OpInfo& op = op_named("log_softmax");
  return along(op, x, axis);
}

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
    throw core::ShapeError("split", "expected extents that add up to {}, got {} for {} {}",
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
    throw core::ShapeError("tile", "expected {} numbers for {}, got {} {}", x.tensor.rank(),
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

Tensor diagonal(const Located& x, Dim offset) {
  check_matrix("diagonal", x);
  const Dim n = x.tensor.dim(-2), m = x.tensor.dim(-1);
  const Dim row = std::max<Dim>(-offset, 0), column = std::max<Dim>(offset, 0);
  const Dim count = std::max<Dim>(std::min(n - row, m - column), 0);
  Shape flat = x.tensor.shape().erased(x.tensor.rank() - 1);
  flat[flat.rank() - 1] = n * m;
  const Dim first = count > 0 ? row * m + column : 0,
            last = count > 0 ? first + (count - 1) * (m + 1) + 1 : 0;
  return slice(reshape(x, flat), -1, first, last, m + 1);
}

Tensor lower_triangle(const Located& x, Dim offset) {
  check_matrix("lower_triangle", x);
  return select(less_equal(diagonals(x.tensor.dim(-2), x.tensor.dim(-1), x.tensor.device()), offset),
                x.tensor, 0.0);
}

Tensor upper_triangle(const Located& x, Dim offset) {
  check_matrix("upper_triangle", x);
  return select(greater_equal(diagonals(x.tensor.dim(-2), x.tensor.dim(-1), x.tensor.device()), offset),
                x.tensor, 0.0);
}

Tensor trace(const Located& x) { return sum(diagonal(x), Axes{-1}); }

Tensor outer(const Located& a, const Located& b) {
  if (a.tensor.rank() != 1 || b.tensor.rank() != 1)
    throw core::ShapeError("outer", "expected two vectors, got {} and {} {}", a.tensor.aval().text(),
                           b.tensor.aval().text(), at_line(a.where));
  return multiply({expand_dims(a, 1), a.where}, b.tensor);
}

Tensor eye(Dim n, DType dtype, Device device) { return cast(equal(diagonals(n, n, device), 0.0), dtype); }

Tensor linspace(double first, double last, Dim n, DType dtype, Device device) {
  if (n < 2 || !core::is_float(dtype))
    throw core::InvalidArgument("linspace", "expected at least 2 points and a floating dtype, got {} and {}",
                                n, core::name_of(dtype));
  return iota(n, dtype, device) * ((last - first) / static_cast<double>(n - 1)) + first;
}

}  // namespace lodestone::engine
