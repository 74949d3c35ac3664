// SPDX-License-Identifier: Apache-2.0
// Symbols as in external_ops.hpp.
#include "engine/transform/external.hpp"

#include "engine/core/error.hpp"
#include "engine/ops/batching.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/rules.hpp"
#include "engine/record/trace.hpp"
#include "engine/transform/external_ops.hpp"
#include "engine/transform/register.hpp"

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;

const core::DifferentiableMap& map_of(R args) { return *args.as<ExternalAttrs>().map; }
const core::DifferentiableMap& map_of(const InferArgs& args) { return *args.as<ExternalAttrs>().map; }

[[noreturn]] void throw_second_derivative(R args) {
  throw core::InvalidArgument(
      args.op.name + "#no_second_derivative",
      "a second derivative of {} was asked for; maps have first derivatives only, differentiate {} {}",
      map_of(args).name(), "once or take stop_gradient of its unknowns", at_line(args.where));
}

// ---- Shapes ----------------------------------------------------------------------------------------------

void expect_last(const InferArgs& args, std::size_t input, Dim extent, std::string_view what) {
  const Shape& shape = args.aval(input).shape;
  if (shape.rank() > 0 && shape.back() == extent) return;
  throw core::ShapeError(args.op.name + "#wrong_extent",
                         "expected {} {} of {} along the last axis, got {} {}", extent, what,
                         map_of(args).name(), args.aval(input).text(), at_line(args.where));
}

void expect_handle(const InferArgs& args) {
  if (args.aval(0).kind != Kind::handle)
    throw core::InvalidArgument(args.op.name + "#no_linearization",
                                "expected a linearization of {}, got {} {}", map_of(args).name(),
                                args.aval(0).text(), at_line(args.where));
}

Aval infer_at_x(const InferArgs& args) {
  expect_last(args, 0, map_of(args).size_in(), "unknowns");
  return with_last(args.aval(0), map_of(args).size_out());
}

Aval infer_linearize(const InferArgs& args) {
  expect_last(args, 0, map_of(args).size_in(), "unknowns");
  Aval result = args.aval(0);
  result.kind = Kind::handle;
  return result;
}

Aval infer_value(const InferArgs& args) {
  expect_handle(args);
  return with_last(args.aval(0), map_of(args).size_out());
}

/// Directions carry the items of the handle first, then any axes of their own.
Aval infer_product(const InferArgs& args, Dim from, Dim to, std::string_view what) {
  expect_handle(args);
  expect_last(args, 1, from, what);
  const Shape &handle = args.aval(0).shape, &directions = args.aval(1).shape;
  bool fits = directions.rank() >= handle.rank() && args.aval(1).dtype == DType::f64;
  for (int axis = 0; fits && axis + 1 < handle.rank(); ++axis) fits = handle[axis] == directions[axis];
  if (!fits)
    throw core::ShapeError(args.op.name + "#wrong_directions",
                           "expected f64 directions that start with the items of {}, got {} {}",
                           args.aval(0).text(), args.aval(1).text(), at_line(args.where));
  return with_last(args.aval(1), to);
}

// ---- Ops -------------------------------------------------------------------------------------------------

Tensor external_call(const Tensor& x, const AttrsPtr& attrs, std::source_location where) {
  static const OpInfo& op = op_named("external_call");
  return record(op, {x}, attrs, where);
}
Tensor external_linearize(const Tensor& x, const AttrsPtr& attrs, std::source_location where) {
  static const OpInfo& op = op_named("external_linearize");
  return record(op, {x}, attrs, where);
}
Tensor external_value(const Tensor& h, const AttrsPtr& attrs, std::source_location where) {
  static const OpInfo& op = op_named("external_value");
  return record(op, {h}, attrs, where);
}
Tensor external_jvp(const Tensor& h, const Tensor& v, const AttrsPtr& attrs, std::source_location where) {
  static const OpInfo& op = op_named("external_jvp");
  return record(op, {h, v}, attrs, where);
}
Tensor external_vjp(const Tensor& h, const Tensor& w, const AttrsPtr& attrs, std::source_location where) {
  static const OpInfo& op = op_named("external_vjp");
  return record(op, {h, w}, attrs, where);
}

// ---- Rows ------------------------------------------------------------------------------------------------

OpInfo row_of(std::string name, std::string formula, int n_inputs) {
  OpInfo row;
  row.name = std::move(name);
  row.formula = std::move(formula);
  row.n_inputs = n_inputs;
  row.dtypes = {DType::f64};
  row.op_class = OpClass::external;
  row.runs_when_recorded = [](const Attrs*) { return true; };
  row.derivative.why_no_second = "maps have first derivatives only";
  return row;
}

void register_values(OpTable& table) {
  OpInfo call = row_of("external_call", "F(x)", 1);
  call.infer = infer_at_x;
  call.run = run_external_call;
  call.derivative.formula = "J dx, of the map linearized at x";
  call.derivative.jvp = [](R a, std::span<const Tensor> tangents) {
    return external_jvp(external_linearize(a.in[0], a.attrs, a.where), tangents[0], a.attrs, a.where);
  };
  call.derivative.vjp = [](R a, const Tensor& w, std::size_t) {
    return external_vjp(external_linearize(a.in[0], a.attrs, a.where), w, a.attrs, a.where);
  };
  call.axes = [](const AxisArgs& args) { return axis_by_axis(args, {args.out.shape.rank() - 1}); };
  call.stacks = true;
  call.sample = sample_external_call;
  table.add(std::move(call));

  OpInfo linearize =
      row_of("external_linearize", "a handle of F and J at x, whose tangents are those of x", 1);
  linearize.infer = infer_linearize;
  linearize.run = run_external_linearize;
  linearize.derivative.formula = "dx";
  linearize.derivative.jvp = [](R, std::span<const Tensor> tangents) { return tangents[0]; };
  linearize.derivative.vjp = [](R, const Tensor& cotangent, std::size_t) { return cotangent; };
  linearize.stacks = true;
  linearize.sample = sample_external_linearize;
  table.add(std::move(linearize));

  OpInfo value = row_of("external_value", "F, from its linearization h", 1);
  value.infer = infer_value;
  value.run = run_external_value;
  value.derivative.formula = "J dh";
  value.derivative.jvp = [](R a, std::span<const Tensor> tangents) {
    return external_jvp(a.in[0], tangents[0], a.attrs, a.where);
  };
  value.derivative.vjp = [](R a, const Tensor& w, std::size_t) {
    return external_vjp(a.in[0], w, a.attrs, a.where);
  };
  value.stacks = true;
  value.sample = sample_external_value;
  table.add(std::move(value));
}

/// A batch of directions at one point becomes more right-hand sides; a batch of points goes item by item.
Tensor batch_product(R args, const std::vector<bool>& batched) {
  if (batched[0]) return batch_in_front(args, batched);
  const Tensor &h = args.in[0], &v = args.in[1];
  const int n_items = h.rank() - 1;  // the new axis goes behind theirs
  const Tensor inputs[] = {h, move_axis(v, 0, n_items)};
  return move_axis(args.again(inputs), n_items, 0);
}

void register_product(OpTable& table, bool forward) {
  OpInfo row = forward ? row_of("external_jvp", "J V for k directions in one call", 2)
                       : row_of("external_vjp", "Jᵀ W for k directions in one call", 2);
  row.infer = [forward](const InferArgs& args) {
    const Dim n_in = map_of(args).size_in(), n_out = map_of(args).size_out();
    return forward ? infer_product(args, n_in, n_out, "unknowns")
                   : infer_product(args, n_out, n_in, "outputs");
  };
  row.run = forward ? run_external_jvp : run_external_vjp;
  row.derivative.formula = forward ? "J dV" : "Jᵀ dW";
  row.derivative.why_no_second = {};  // linear in the directions
  row.derivative.jvp = [](R args, std::span<const Tensor> tangents) {
    if (tangents[0].is_valid()) throw_second_derivative(args);
    const Tensor inputs[] = {args.in[0], tangents[1]};
    return args.again(inputs);
  };
  row.derivative.vjp = [forward](R args, const Tensor& cotangent, std::size_t which) -> Tensor {
    if (which == 0) throw_second_derivative(args);
    return forward ? external_vjp(args.in[0], cotangent, args.attrs, args.where)
                   : external_jvp(args.in[0], cotangent, args.attrs, args.where);
  };
  row.axes = [](const AxisArgs& args) { return by_right_hand_side(args, args.in[0].shape.rank() - 1); };
  row.batch = batch_product;
  row.sample = [forward](Sampler& sampler) { return sample_external_product(sampler, forward); };
  table.add(std::move(row));
}

}  // namespace

void register_external(OpTable& table) {
  register_values(table);
  register_product(table, true);
  register_product(table, false);
}

Tensor external(const core::MapPtr& map, const Located& x) {
  if (!map)
    throw core::InvalidArgument("external#no_map", "expected a map, got a null pointer {}", at_line(x.where));
  const DType dtype = x.tensor.dtype();
  if (core::is_complex(dtype)) {
    throw core::InvalidArgument("external#complex_unknowns",
                                "expected real unknowns of {}, got {}; stack real and imaginary parts {}",
                                map->name(), x.tensor.aval().text(), at_line(x.where));
  }
  const AttrsPtr attrs = make_attrs(ExternalAttrs{map});
  const Tensor at = cast(x, DType::f64);
  const Tensor y = is_differentiating()
                       ? external_value(external_linearize(at, attrs, x.where), attrs, x.where)
                       : external_call(at, attrs, x.where);
  return core::is_float(dtype) ? cast({y, x.where}, dtype) : y;
}

}  // namespace lodestone::engine
