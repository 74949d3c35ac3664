// SPDX-License-Identifier: Apache-2.0
// Rows and public functions of the reductions. x input, y output, S the sum over the reduced axes.
#include "engine/core/error.hpp"
#include "engine/ops/attributes.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/register.hpp"
#include "engine/ops/rules.hpp"
#include "engine/ops/sampler.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;

Shape reduced_shape(const Shape& shape, const Axes& axes, Keep keep) {
  Shape result;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (!axes.contains(axis)) {
      result.push_back(shape[axis]);
    } else if (keep == Keep::yes) {
      result.push_back(1);
    }
  }
  return result;
}

/// A reduced tensor spread over the shape it was reduced from.
Tensor spread(const Tensor& reduced, const Tensor& like, const Axes& axes) {
  return broadcast_to(reshape(reduced, reduced_shape(like.shape(), axes, Keep::yes)), like.shape());
}

Tensor reduce(const OpInfo& op, const Located& x, const std::optional<Axes>& axes, Keep keep) {
  const int rank = x.tensor.rank();
  const Axes counted = axes ? counted_axes(op.name, *axes, rank, x.where) : IntList::counting(rank);
  const Tensor reduced = record(op, {x.tensor}, make_attrs(ReduceAttrs{counted}), x.where);
  return keep == Keep::yes ? reshape({reduced, x.where}, reduced_shape(x.tensor.shape(), counted, keep))
                           : reduced;
}

OpInfo reduction(std::string name, std::string formula, DTypes dtypes, Combine combine,
                 Derivative derivative) {
  OpInfo row;
  row.name = std::move(name);
  row.formula = std::move(formula);
  row.dtypes = dtypes;
  row.infer = [](const InferArgs& args) {
    check_axes(args, args.as<ReduceAttrs>().axes);
    Aval result = args.aval(0);
    result.shape = reduced_shape(result.shape, args.as<ReduceAttrs>().axes, Keep::no);
    return result;
  };
  row.derivative = std::move(derivative);
  row.flops = [](const InferArgs& args, const Aval&) { return static_cast<double>(args.aval(0).count()); };
  row.op_class = OpClass::reduction;
  row.axes = [combine](const AxisArgs& args) {
    return reduced_over(args, args.as<ReduceAttrs>().axes, combine);
  };
  row.stacks = true;
  row.sample = [](Sampler& sampler) {
    const Shape shape = sampler.shape(0, 4);
    return Sample{{sampler.tensor(shape, -2, 2)}, make_attrs(ReduceAttrs{sampler.some_axes(shape.rank())})};
  };
  return row;
}

/// Returns the derivative of the largest or smallest element: the mean over the elements that tie for it.
Derivative of_winners() {
  const auto winners = [](R args) {
    return cast(equal(args.in[0], spread(args.out, args.in[0], args.as<ReduceAttrs>().axes)),
                args.out.dtype());
  };
  Derivative result;
  result.formula = "mean of dx over the elements that attain y";
  result.jvp = [winners](R args, std::span<const Tensor> tangents) {
    const Axes& axes = args.as<ReduceAttrs>().axes;
    const Tensor wins = winners(args);
    return sum(wins * tangents[0], axes) / sum(wins, axes);
  };
  result.vjp = [winners](R args, const Tensor& cotangent, std::size_t) {
    const Axes& axes = args.as<ReduceAttrs>().axes;
    const Tensor wins = winners(args);
    return wins * spread(cotangent / sum(wins, axes), args.in[0], axes);
  };
  return result;
}

/// max and min of nothing do not exist.
OpInfo extremum(std::string name, std::string formula, Combine combine) {
  OpInfo row = reduction(std::move(name), std::move(formula), reals, combine, of_winners());
  row.exact_when_cut = true;  // nothing is rounded
  row.infer = [of_any = row.infer](const InferArgs& args) {
    const Aval result = of_any(args);
    for (const Dim axis : args.as<ReduceAttrs>().axes) {
      if (args.aval(0).shape[static_cast<int>(axis)] == 0)
        throw core::ShapeError(args.op.name + "#empty_axis",
                               "expected at least one element along axis {}, got {} {}", axis,
                               args.aval(0).text(), at_line(args.where));
    }
    return result;
  };
  row.sample = [](Sampler& sampler) {
    Shape shape = sampler.shape(0, 4);
    const Axes axes = sampler.some_axes(shape.rank());
    for (const Dim axis : axes)
      shape[static_cast<int>(axis)] = std::max<Dim>(shape[static_cast<int>(axis)], 1);
    return Sample{{sampler.apart(shape)}, make_attrs(ReduceAttrs{axes})};
  };
  return row;
}

}  // namespace

void register_reductions(OpTable& table) {
  const auto adjoint_of_sum = [](R args, const Tensor& cotangent, std::size_t) {
    return spread(cotangent, args.in[0], args.as<ReduceAttrs>().axes);
  };
  table.add(reduction("sum", "S x", numbers, Combine::sum, linear("S dx", adjoint_of_sum)));
  table.add(extremum("max", "the largest x", Combine::max));
  table.add(extremum("min", "the smallest x", Combine::min));
}

Tensor sum(const Located& x, std::optional<Axes> axes, Keep keep) {
  static const OpInfo& op = op_named("sum");
  return reduce(op, x, axes, keep);
}

Tensor max(const Located& x, std::optional<Axes> axes, Keep keep) {
  static const OpInfo& op = op_named("max");
  return reduce(op, x, axes, keep);
}

Tensor min(const Located& x, std::optional<Axes> axes, Keep keep) {
  static const OpInfo& op = op_named("min");
  return reduce(op, x, axes, keep);
}

Tensor mean(const Located& x, std::optional<Axes> axes, Keep keep) {
  const Tensor total = sum(x, std::move(axes), keep);
  const auto n =
      static_cast<double>(x.tensor.count()) / static_cast<double>(std::max<std::int64_t>(total.count(), 1));
  return divide({total, x.where}, n);
}

Tensor variance(const Located& x, std::optional<Axes> axes, Keep keep, double correction) {
  const Tensor centred = x.tensor - mean(x, axes, Keep::yes);
  const Tensor total = sum(squared_modulus(centred), std::move(axes), keep);
  const double n =
      static_cast<double>(x.tensor.count()) / static_cast<double>(std::max<std::int64_t>(total.count(), 1));
  if (n <= correction)
    throw core::ShapeError("variance#too_few_elements", "expected more than {} elements, got {} of {} {}",
                           correction, n, x.tensor.aval().text(), at_line(x.where));
  return total / (n - correction);
}

Tensor standard_deviation(const Located& x, std::optional<Axes> axes, Keep keep, double correction) {
  return sqrt(variance(x, std::move(axes), keep, correction));
}

Tensor norm(const Located& x, std::optional<Axes> axes, Keep keep) {
  const Tensor total = sum(squared_modulus({x.tensor, x.where}), std::move(axes), keep);
  const Tensor is_zero = equal(total, 0.0);
  return select(is_zero, 0.0, sqrt(select(is_zero, 1.0, total)));
}

}  // namespace lodestone::engine
