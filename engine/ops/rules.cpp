// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/rules.hpp"

#include "engine/core/error.hpp"
#include "engine/ops/ops.hpp"

#include <algorithm>

namespace lodestone::engine {

Derivative by_partials(std::string formula, std::vector<Partial> partials) {
  Derivative result;
  result.formula = std::move(formula);
  result.jvp = [partials](const RuleArgs& args, std::span<const Tensor> tangents) {
    Tensor sum;
    for (std::size_t i = 0; i < partials.size(); ++i) {
      if (tangents[i].is_valid() && partials[i] != nullptr)
        sum = add_tangents(sum, multiply(partials[i](args), tangents[i]));
    }
    return sum;
  };
  result.vjp = [partials](const RuleArgs& args, const Tensor& cotangent, std::size_t which) {
    return partials[which] == nullptr ? Tensor() : multiply(conj(partials[which](args)), cotangent);
  };
  return result;
}

Derivative linear(std::string formula, Term adjoint, Term alone) {
  Derivative result;
  result.formula = std::move(formula);
  result.jvp = [alone = std::move(alone)](const RuleArgs& args, std::span<const Tensor> tangents) {
    const bool all_there =
        std::all_of(tangents.begin(), tangents.end(), [](const Tensor& each) { return each.is_valid(); });
    if (all_there) return args.again(tangents);
    if (!alone) return args.again(tangents_or_zeros(tangents, args.in));
    Tensor sum;
    for (std::size_t i = 0; i < tangents.size(); ++i) {
      if (tangents[i].is_valid()) sum = add_tangents(sum, alone(args, tangents[i], i));
    }
    return sum;
  };
  result.vjp = std::move(adjoint);
  return result;
}

Derivative multilinear(std::string formula, Term adjoint) {
  Derivative result;
  result.formula = std::move(formula);
  result.jvp = [](const RuleArgs& args, std::span<const Tensor> tangents) {
    Tensor sum;
    for (std::size_t i = 0; i < tangents.size(); ++i) {
      if (!tangents[i].is_valid()) continue;
      std::vector<Tensor> inputs(args.in.begin(), args.in.end());
      inputs[i] = tangents[i];
      sum = add_tangents(sum, args.again(inputs));
    }
    return sum;
  };
  result.vjp = std::move(adjoint);
  return result;
}

Derivative no_derivative(std::string why) {
  Derivative result;
  result.why_none = std::move(why);
  return result;
}

Tensor tangent_or_zeros(const Tensor& tangent, const Tensor& primal) {
  return tangent.is_valid() ? tangent : zeros_like(primal);
}

Tensors tangents_or_zeros(std::span<const Tensor> tangents, std::span<const Tensor> primals) {
  Tensors result;
  for (std::size_t i = 0; i < tangents.size(); ++i)
    result.push_back(tangent_or_zeros(tangents[i], primals[i]));
  return result;
}

std::optional<Look> same_look(const Aval&, const Look& look, const Attrs*, const Aval&) { return look; }

Aval infer_alike(const InferArgs& args) {
  for (std::size_t i = 1; i < args.in.size(); ++i) {
    if (!(args.aval(i) == args.aval(0)))
      throw core::ShapeError(args.op.name + "#unequal_avals",
                             "expected equal shapes and dtypes, got {} and {} {}", args.aval(0).text(),
                             args.aval(i).text(), at_line(args.where));
  }
  return args.aval(0);
}

void check_axis(const InferArgs& args, Dim axis) {
  if (axis < 0 || axis >= args.aval(0).shape.rank())
    throw core::ShapeError(args.op.name + "#no_such_axis",
                           "expected an input with axis {}, as {} has it, got {} {}", axis,
                           args.attrs->text(), args.aval(0).text(), at_line(args.where));
}

void check_axes(const InferArgs& args, const Axes& axes) {
  for (const Dim axis : axes) check_axis(args, axis);
}

void check_rank(const InferArgs& args, int rank) {
  if (args.aval(0).shape.rank() != rank)
    throw core::ShapeError(args.op.name + "#wrong_rank", "expected an input with {} axes for {}, got {} {}",
                           rank, args.attrs->text(), args.aval(0).text(), at_line(args.where));
}

double multiply_adds(double n, DType dtype) { return (core::is_complex(dtype) ? 8.0 : 2.0) * n; }

Shape broadcast_shapes(std::string_view op, const Aval& a, const Aval& b, const std::source_location& where) {
  const int rank = std::max(a.shape.rank(), b.shape.rank());
  Shape result = IntList::filled(rank, 1);
  for (int axis = 1; axis <= rank; ++axis) {
    const Dim of_a = axis <= a.shape.rank() ? a.shape[a.shape.rank() - axis] : 1;
    const Dim of_b = axis <= b.shape.rank() ? b.shape[b.shape.rank() - axis] : 1;
    if (of_a != of_b && of_a != 1 && of_b != 1)
      throw core::ShapeError(std::string(op) + "#does_not_broadcast",
                             "expected shapes that broadcast, got {} and {} {}", a.text(), b.text(),
                             at_line(where));
    result[rank - axis] = of_a == 1 ? of_b : of_a;
  }
  return result;
}

int counted_axis(std::string_view op, Dim axis, int rank, const std::source_location& where) {
  const Dim counted = axis < 0 ? axis + rank : axis;
  if (counted < 0 || counted >= rank)
    throw core::ShapeError(std::string(op) + "#axis_out_of_range",
                           "expected an axis from {} to {}, got {} {}", -rank, rank - 1, axis,
                           at_line(where));
  return static_cast<int>(counted);
}

Axes counted_axes(std::string_view op, const Axes& axes, int rank, const std::source_location& where) {
  std::vector<Dim> counted;
  for (const Dim axis : axes) counted.push_back(counted_axis(op, axis, rank, where));
  std::sort(counted.begin(), counted.end());
  if (std::adjacent_find(counted.begin(), counted.end()) != counted.end())
    throw core::ShapeError(std::string(op) + "#axis_repeated", "expected each axis once, got {} {}",
                           axes.text(), at_line(where));
  return Axes(counted);
}

Tensor move_axis(const Tensor& x, int from, int to) {
  return from == to ? x : transpose(x, IntList::counting(x.rank()).erased(from).inserted(to, from));
}

Axes shifted(const Axes& axes, Dim by) {
  Axes result = axes;
  for (int i = 0; i < result.size(); ++i) result[i] += by;
  return result;
}

}  // namespace lodestone::engine
