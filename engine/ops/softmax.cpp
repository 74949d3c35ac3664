// SPDX-License-Identifier: Apache-2.0
// Rows and public functions of softmax and its logarithm, and ln Σ e^x. x input, y output.
#include "engine/core/error.hpp"
#include "engine/ops/attributes.hpp"
#include "engine/ops/composite.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/register.hpp"
#include "engine/ops/rules.hpp"
#include "engine/ops/sampler.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;

/// Returns what is subtracted from x before exp: the largest x, or 0 where that is infinite. It counts as a
/// constant for the derivative.
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
      throw core::ShapeError(args.op.name + "#empty_axis",
                             "expected at least one element along axis {}, got {} {}", axis,
                             args.aval(0).text(), at_line(args.where));
    return args.aval(0);
  };
  row.accepts = [](const InferArgs& args) {
    return args.as<AxisAttrs>().axis == args.aval(0).shape.rank() - 1;
  };
  row.op_class = OpClass::reduction;
  row.axes = [](const AxisArgs& args) { return axis_by_axis(args, {args.as<AxisAttrs>().axis}); };
  row.stacks = true;
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

}  // namespace

void register_softmax(OpTable& table) {
  Derivative of_softmax;
  of_softmax.formula = "y (dx - Σ y dx)";
  const auto slope = [](R args, const Tensor& t) { return args.out * (t - summed(args, args.out * t)); };
  of_softmax.jvp = [=](R args, std::span<const Tensor> t) { return slope(args, t[0]); };
  of_softmax.vjp = [=](R args, const Tensor& c, std::size_t) { return slope(args, c); };
  table.add(along_axis("softmax", "e^x / Σ e^x", decompose_softmax, of_softmax));
  Derivative of_log;
  of_log.formula = "dx - Σ e^y dx";
  of_log.jvp = [](R args, std::span<const Tensor> t) { return t[0] - summed(args, exp(args.out) * t[0]); };
  of_log.vjp = [](R args, const Tensor& c, std::size_t) { return c - exp(args.out) * summed(args, c); };
  table.add(along_axis("log_softmax", "x - ln Σ e^x", decompose_log_softmax, of_log));
}

Tensor softmax(const Located& x, int axis) {
  static const OpInfo& op = op_named("softmax");
  return along(op, x, axis);
}

Tensor log_softmax(const Located& x, int axis) {
  static const OpInfo& op = op_named("log_softmax");
  return along(op, x, axis);
}

Tensor logsumexp(const Located& x, std::optional<Axes> axes, Keep keep) {
  const Tensor shift = shift_of(x.tensor, axes);
  const Tensor total = log(sum(exp(x.tensor - shift), axes, Keep::yes)) + shift;
  return keep == Keep::yes ? total : reshape(total, sum(x, std::move(axes)).shape());
}

}  // namespace lodestone::engine
