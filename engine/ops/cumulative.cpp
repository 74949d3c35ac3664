// SPDX-License-Identifier: Apache-2.0
// Accumulations y_k = f(y_{k-1}, x_k). The tangent of each is a linear recurrence
// dy_k = a_k dy_{k-1} + s_k dx_k, whose adjoint is one that runs the other way: x̄_k = conj(s_k) λ_k,
// λ_k = ȳ_k + conj(a_{k+1}) λ_{k+1}.
#include "engine/ops/cumulative.hpp"

#include "engine/core/error.hpp"
#include "engine/ops/attributes.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/register.hpp"
#include "engine/ops/rules.hpp"
#include "engine/ops/sampler.hpp"

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;

/// Each element's predecessor in the order of the accumulation; `first` for the one without.
Tensor previous(const Tensor& x, const ScanAttrs& attrs, double first) {
  const IntList none = IntList::filled(x.rank(), 0);
  IntList in = none, out = none;
  in[attrs.axis] = 1;
  out[attrs.axis] = -1;
  return x.shape()[attrs.axis] == 0 ? x
                                    : pad(x, attrs.reverse ? out : in, attrs.reverse ? in : out, {}, first);
}

Tensor recurrence(const Tensor& a, const Tensor& b, const ScanAttrs& attrs,
                  const std::source_location& where) {
  return record(op_named("linear_recurrence"), {a, b}, make_attrs(attrs), where);
}

/// λ_k = c_k + conj(a_{k+1}) λ_{k+1}.
Tensor adjoint_recurrence(const Tensor& a, const Tensor& cotangent, const ScanAttrs& attrs,
                          const std::source_location& where) {
  const ScanAttrs back{attrs.axis, !attrs.reverse};
  return recurrence(previous(conj(a), back, 0.0), cotangent, back, where);
}

/// The factors of dy_{k-1} and dx_k.
struct Slopes {
  Tensor carried, added;
};

Derivative by_recurrence(std::string formula, Slopes (*slopes)(R)) {
  Derivative result;
  result.formula = std::move(formula);
  result.jvp = [slopes](R args, std::span<const Tensor> tangents) {
    const auto [carried, added] = slopes(args);
    return recurrence(carried, added * tangents[0], args.as<ScanAttrs>(), args.where);
  };
  result.vjp = [slopes](R args, const Tensor& cotangent, std::size_t) {
    const auto [carried, added] = slopes(args);
    return conj(added) * adjoint_recurrence(carried, cotangent, args.as<ScanAttrs>(), args.where);
  };
  return result;
}

OpInfo scan(std::string name, std::string formula, int n_inputs, DTypes dtypes, Derivative derivative) {
  OpInfo row;
  row.name = std::move(name);
  row.formula = std::move(formula);
  row.n_inputs = n_inputs;
  row.dtypes = dtypes;
  row.derivative = std::move(derivative);
  row.infer = [](const InferArgs& args) {
    const Aval& x = args.aval(0);
    check_axis(args, args.as<ScanAttrs>().axis);
    for (std::size_t i = 1; i < args.in.size(); ++i) {
      if (!(args.aval(i).shape == x.shape) || args.aval(i).dtype != x.dtype)
        throw core::ShapeError(args.op.name + "#unequal_avals",
                               "expected equal shapes and dtypes, got {} and {} {}", x.text(),
                               args.aval(i).text(), at_line(args.where));
    }
    return x;
  };
  row.op_class = OpClass::scan;
  row.exact_when_cut = true;  // each column goes through its elements in order
  row.axes = [](const AxisArgs& args) { return axis_by_axis(args, {args.as<ScanAttrs>().axis}); };
  row.stacks = true;
  row.sample = [n_inputs](Sampler& sampler) {
    const Shape shape = sampler.shape(1, 4);
    Sample sample{
        {},
        make_attrs(ScanAttrs{static_cast<int>(sampler.integer(0, shape.rank() - 1)), sampler.chance(0.5)})};
    for (int i = 0; i < n_inputs; ++i) sample.inputs.push_back(sampler.tensor(shape, -1.2, 1.2));
    return sample;
  };
  return row;
}

Derivative of_recurrence() {
  Derivative result;
  result.formula = "dy_k = a_k dy_{k-1} + y_{k-1} da_k + db_k";
  result.jvp = [](R args, std::span<const Tensor> tangents) {
    const auto& attrs = args.as<ScanAttrs>();
    const Tensor of_a = tangents[0].is_valid() ? previous(args.out, attrs, 0.0) * tangents[0] : Tensor();
    return recurrence(args.in[0], add_tangents(of_a, tangents[1]), attrs, args.where);
  };
  result.vjp = [](R args, const Tensor& cotangent, std::size_t which) {
    const auto& attrs = args.as<ScanAttrs>();
    const Tensor lambda = adjoint_recurrence(args.in[0], cotangent, attrs, args.where);
    return which == 1 ? lambda : conj(previous(args.out, attrs, 0.0)) * lambda;
  };
  return result;
}

Tensor accumulate(const OpInfo& op, const Located& x, int axis, Direction direction) {
  const int at = counted_axis(op.name, axis, x.tensor.rank(), x.where);
  return record(op, {x.tensor}, make_attrs(ScanAttrs{at, direction == Direction::reverse}), x.where);
}

/// 1 where x_k is the new extremum, and the rest: a tie keeps the earlier one.
Slopes of_extremum(R args, Tensor (*beats)(const Operand&, const Operand&), double worst) {
  const Tensor wins =
      cast(beats(args.in[0], previous(args.out, args.as<ScanAttrs>(), worst)), args.out.dtype());
  return {1.0 - wins, wins};
}

OpInfo scan_extremum(std::string name, std::string formula, Slopes (*slopes)(R)) {
  OpInfo row = scan(std::move(name), std::move(formula), 1, reals,
                    by_recurrence("dx of the element that attains y_k", slopes));
  row.sample = [any = row.sample](Sampler& sampler) {
    Sample sample = any(sampler);
    sample.inputs[0] = sampler.apart(sample.inputs[0].shape());
    return sample;
  };
  return row;
}

}  // namespace

void register_cumulative(OpTable& table) {
  table.add(scan("cumulative_sum", "y_k = y_{k-1} + x_k", 1, numbers,
                 linear("the same sum of dx", [](R args, const Tensor& cotangent, std::size_t) {
                   const auto& [axis, reverse] = args.as<ScanAttrs>();
                   return record(args.op, {cotangent}, make_attrs(ScanAttrs{axis, !reverse}), args.where);
                 })));
  table.add(scan("cumulative_product", "y_k = y_{k-1} x_k", 1, numbers,
                 by_recurrence("dy_k = x_k dy_{k-1} + y_{k-1} dx_k", [](R args) {
                   return Slopes{args.in[0], previous(args.out, args.as<ScanAttrs>(), 1.0)};
                 })));
  table.add(scan_extremum("cumulative_max", "y_k = max(y_{k-1}, x_k)",
                          [](R args) { return of_extremum(args, greater, -INFINITY); }));
  table.add(scan_extremum("cumulative_min", "y_k = min(y_{k-1}, x_k)",
                          [](R args) { return of_extremum(args, less, INFINITY); }));
  table.add(scan("cumulative_logsumexp", "y_k = ln (e^y_{k-1} + e^x_k)", 1, real_floats,
                 by_recurrence("dy_k = e^(y_{k-1} - y_k) dy_{k-1} + e^(x_k - y_k) dx_k", [](R args) {
                   return Slopes{exp(previous(args.out, args.as<ScanAttrs>(), -INFINITY) - args.out),
                                 exp(args.in[0] - args.out)};
                 })));
  table.add(scan("linear_recurrence", "y_k = a_k y_{k-1} + b_k", 2, floats, of_recurrence()));
}

Tensor cumulative_sum(const Located& x, int axis, Direction direction) {
  static const OpInfo& op = op_named("cumulative_sum");
  return accumulate(op, x, axis, direction);
}

Tensor cumulative_product(const Located& x, int axis, Direction direction) {
  static const OpInfo& op = op_named("cumulative_product");
  return accumulate(op, x, axis, direction);
}

Tensor cumulative_max(const Located& x, int axis, Direction direction) {
  static const OpInfo& op = op_named("cumulative_max");
  return accumulate(op, x, axis, direction);
}

Tensor cumulative_min(const Located& x, int axis, Direction direction) {
  static const OpInfo& op = op_named("cumulative_min");
  return accumulate(op, x, axis, direction);
}

Tensor cumulative_logsumexp(const Located& x, int axis, Direction direction) {
  static const OpInfo& op = op_named("cumulative_logsumexp");
  return accumulate(op, x, axis, direction);
}

Tensor linear_recurrence(const Located& a, const Located& b, int axis, Direction direction) {
  static const OpInfo& op = op_named("linear_recurrence");
  const int at = counted_axis("linear_recurrence", axis, a.tensor.rank(), a.where);
  return record(op, {a.tensor, b.tensor}, make_attrs(ScanAttrs{at, direction == Direction::reverse}),
                a.where);
}

}  // namespace lodestone::engine
