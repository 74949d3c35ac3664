// SPDX-License-Identifier: Apache-2.0
// Symbols as in implicit_ops.hpp.
#include "engine/transform/implicit.hpp"

#include "engine/core/error.hpp"
#include "engine/ops/batching.hpp"
#include "engine/ops/rules.hpp"
#include "engine/record/record.hpp"
#include "engine/transform/implicit_ops.hpp"
#include "engine/transform/register.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;

/// More right-hand sides for the same items are one solve.
Tensor batch_apply(R args, const std::vector<bool>& batched) {
  if (std::find(batched.begin(), batched.end() - 1, true) != batched.end() - 1)
    return batch_in_front(args, batched);
  const int items = args.as<ImplicitAttrs>().n_item_axes;
  Tensors inputs(args.in.begin(), args.in.end());
  inputs.back() = move_axis(inputs.back(), 0, items);
  return move_axis(args.again(inputs), items, 0);
}

OpInfo row_of(std::string name, std::string formula) {
  OpInfo row;
  row.name = std::move(name);
  row.formula = std::move(formula);
  row.n_inputs = -1;
  row.dtypes = floats;
  row.op_class = OpClass::external;
  row.stacks = true;
  row.runs_when_recorded = [](const Attrs*) { return true; };
  return row;
}

Aval infer_solve(const InferArgs& args) {
  const auto& attrs = args.as<ImplicitAttrs>();
  return {items_shape(args.aval(0).shape, attrs.n_item_axes), attrs.problem->dtype, args.aval(0).device,
          Kind::handle};
}

Aval infer_value(const InferArgs& args) {
  const auto& problem = *args.as<ImplicitAttrs>().problem;
  return {joined(args.aval(0).shape, problem.unknown), problem.dtype, args.aval(0).device};
}

Aval infer_apply(const InferArgs& args) {
  const auto& attrs = args.as<ImplicitAttrs>();
  const Aval& b = args.in.back().aval();
  const Shape& items = args.aval(0).shape;
  bool fits = b.shape.rank() > items.rank() && b.shape.back() == attrs.problem->unknown.count() &&
              b.dtype == attrs.problem->dtype;
  for (int axis = 0; fits && axis < items.rank(); ++axis) fits = b.shape[axis] == items[axis];
  if (!fits) {
    throw core::ShapeError("implicit_apply#wrong_right_hand_sides",
                           "{}: expected right-hand sides {}[{}…, {}], got {} {}", attrs.problem->name,
                           core::name_of(attrs.problem->dtype), items.empty() ? "" : items.text(),
                           attrs.problem->unknown.count(), b.text(), at_line(args.where));
  }
  return b;
}

}  // namespace

void register_implicit(OpTable& table) {
  OpInfo solve = row_of("implicit_solve", "a handle of u with F(u, m) = 0 and of the factors of F_u");
  solve.infer = infer_solve;
  solve.run = run_implicit_solve;
  solve.derivative = no_derivative("it keeps what the derivatives of implicit_value are solved with");
  solve.sample = sample_implicit_solve;
  table.add(std::move(solve));

  OpInfo value = row_of("implicit_value", "u, of its handle h, as a function of m");
  value.infer = infer_value;
  value.run = run_implicit_value;
  value.derivative.formula = "-F_u⁻¹ F_m dm; adjoint: -F_mᴴ F_u⁻ᴴ ū";
  value.derivative.jvp = implicit_value_jvp;
  value.derivative.pull_back = implicit_value_pull_back;
  value.sample = sample_implicit_value;
  table.add(std::move(value));

  OpInfo product =
      row_of("implicit_apply", "X with A X = B, or Aᴴ X = B, A = F_u, for k right-hand sides in one call");
  product.infer = infer_apply;
  product.run = run_implicit_apply;
  product.derivative.formula = "A⁻¹ (dB - dA X); adjoint: B̄ = A⁻ᴴ X̄, Ā = -B̄ Xᴴ";
  product.derivative.jvp = implicit_apply_jvp;
  product.derivative.pull_back = implicit_apply_pull_back;
  product.axes = [](const AxisArgs& args) {
    return by_right_hand_side(args, args.as<ImplicitAttrs>().n_item_axes);
  };
  product.batch = batch_apply;
  product.sample = sample_implicit_apply;
  table.add(std::move(product));
}

Function implicit(ImplicitProblem problem, std::source_location where) {
  if (!problem.residual || !problem.solve)
    throw core::InvalidArgument("implicit#no_function",
                                "expected F and a solver for \"{}\", got an empty function {}", problem.name,
                                at_line(where));
  if (!core::is_float(problem.dtype))
    throw core::InvalidArgument("implicit#wrong_dtype",
                                "expected floating-point unknowns of \"{}\", got {} {}", problem.name,
                                core::name_of(problem.dtype), at_line(where));
  const auto shared = std::make_shared<const ImplicitProblem>(std::move(problem));
  return [attrs = make_attrs(ImplicitAttrs{shared}), where](const Tensors& m) -> Tensors {
    static const OpInfo &solve = op_named("implicit_solve"), &value = op_named("implicit_value");
    if (m.empty())
      throw core::InvalidArgument("implicit#no_parameters",
                                  "expected at least one parameter, but the list is empty {}",
                                  at_line(where));
    Tensors inputs{record(solve, m, attrs, where)};
    inputs.insert(inputs.end(), m.begin(), m.end());
    return {record(value, inputs, attrs, where)};
  };
}

}  // namespace lodestone::engine
