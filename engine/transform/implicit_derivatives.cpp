// SPDX-License-Identifier: Apache-2.0
// Symbols as in implicit_ops.hpp.
#include "engine/core/error.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/rules.hpp"
#include "engine/record/record.hpp"
#include "engine/transform/implicit_ops.hpp"
#include "engine/transform/transforms.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;

/// Returns f of an item as a function of all of them; `x` with axes of its own behind the items' counts as
/// the last argument.
Function over_items(Function f, R args, std::size_t n_arguments, int n_own_axes = 0) {
  std::vector<bool> only_last(n_arguments, false);
  only_last.back() = true;
  for (int axis = 0; axis < n_own_axes; ++axis) f = vmap(f, only_last, args.where);
  for (int axis = 0; axis < args.as<ImplicitAttrs>().n_item_axes; ++axis) f = vmap(f, {}, args.where);
  return f;
}

/// Returns F(u, m) of one item.
Function residual_of(R args) {
  return [problem = args.as<ImplicitAttrs>().problem, where = args.where](const Tensors& um) -> Tensors {
    const Tensor f = problem->residual(um[0], {um.begin() + 1, um.end()});
    if (f.count() != um[0].count()) {
      throw core::ShapeError("implicit#wrong_equation_count",
                             "{}: expected as many equations as unknowns {}, F gives {} {}", problem->name,
                             um[0].aval().text(), f.aval().text(), at_line(where));
    }
    return {f};
  };
}

/// Returns A x, or Aᴴ x, of one item as a function of u, m and x [n].
Function product_of(R args) {
  return [residual = residual_of(args), side = args.as<ImplicitAttrs>().side,
          where = args.where](const Tensors& umx) -> Tensors {
    const Function of_u = [&](const Tensors& u) {
      Tensors um(umx.begin(), umx.end() - 1);
      um[0] = u[0];
      return residual(um);
    };
    const Linearized at = linearize(of_u, {umx[0]}, where);
    const Shape flat{umx[0].count()};
    if (side == Side::adjoint)
      return {reshape(at.vjp({reshape(umx.back(), at.value()[0].shape())}, where)[0], flat)};
    return {reshape(at.jvp({reshape(umx.back(), umx[0].shape())}, where)[0], flat)};
  };
}

/// f as a function of the floating-point ones among its arguments `from`, …, with the rest as they are.
class Partials {
 public:
  Partials(const Function& f, Tensors arguments, std::size_t from, std::source_location where)
      : arguments_(std::move(arguments)), where_(where) {
    Tensors at;
    for (std::size_t i = from; i < arguments_.size(); ++i) {
      if (!core::is_float(arguments_[i].dtype())) continue;
      which_.push_back(i);
      at.push_back(arguments_[i]);
    }
    linearized_.emplace(linearize(
        [&](const Tensors& x) {
          Tensors all = arguments_;
          for (std::size_t k = 0; k < which_.size(); ++k) all[which_[k]] = x[k];
          return f(all);
        },
        at, where));
  }
  /// Tangents of all arguments in, those of the value out.
  [[nodiscard]] Tensor jvp(std::span<const Tensor> tangents) const {
    Tensors along;
    for (const std::size_t i : which_) along.push_back(tangents[i]);
    return linearized_->jvp(along, where_)[0];
  }
  /// Cotangents of all arguments; not valid for those left alone.
  [[nodiscard]] Tensors vjp(const Tensor& cotangent) const {
    Tensors result(arguments_.size());
    const Tensors back = linearized_->vjp({cotangent}, where_);
    for (std::size_t k = 0; k < which_.size(); ++k) result[which_[k]] = back[k];
    return result;
  }
  [[nodiscard]] const Shape& shape() const { return linearized_->value()[0].shape(); }

 private:
  Tensors arguments_;
  std::vector<std::size_t> which_;
  std::optional<Linearized> linearized_;
  std::source_location where_;
};

Tensor apply(R args, Side side, const Tensors& um, const Tensor& b) {
  static const OpInfo& op = op_named("implicit_apply");
  ImplicitAttrs attrs = args.as<ImplicitAttrs>();
  attrs.side = side;
  Tensors inputs{args.in[0]};
  inputs.insert(inputs.end(), um.begin(), um.end());
  inputs.push_back(b);
  return record(op, inputs, make_attrs(attrs), args.where);
}

/// Returns [items…, n] of [items…, shape of u or F].
Tensor flat(R args, const Tensor& x) {
  return reshape({x, args.where},
                 joined(args.in[0].shape(), {args.as<ImplicitAttrs>().problem->unknown.count()}));
}

Tensors solution_and_parameters(R args) {
  Tensors um{args.out};
  um.insert(um.end(), args.in.begin() + 1, args.in.end());
  return um;
}

/// Returns F(u, ·) at the solution u = args.out.
Partials residual_at(R args) {
  const Tensors um = solution_and_parameters(args);
  return {over_items(residual_of(args), args, um.size()), um, 1, args.where};
}

/// Returns (u, m) ↦ A(u, m) X, or Aᴴ X, at X = args.out.
Partials product_at(R args) {
  const Tensor& x = args.out;
  const Tensors um(args.in.begin() + 1, args.in.end() - 1);
  const Function product =
      over_items(product_of(args), args, um.size() + 1, x.rank() - args.as<ImplicitAttrs>().n_item_axes - 1);
  const Function at_x = [product, x](const Tensors& at) {
    Tensors umx = at;
    umx.push_back(x);
    return product(umx);
  };
  return {at_x, um, 0, args.where};
}

}  // namespace

Tensor implicit_value_jvp(R args, std::span<const Tensor> tangents) {
  const Tensor change = residual_at(args).jvp(tangents);  // input 0, the handle, stands where u stands
  return reshape(negative(apply(args, Side::itself, solution_and_parameters(args), flat(args, change))),
                 args.out.shape());
}

Tensors implicit_value_pull_back(R args, const Tensor& cotangent, const std::vector<bool>&) {
  const Partials residual = residual_at(args);
  const Tensor lambda = apply(args, Side::adjoint, solution_and_parameters(args), flat(args, cotangent));
  return residual.vjp(negative(reshape(lambda, residual.shape())));
}

Tensor implicit_apply_jvp(R args, std::span<const Tensor> tangents) {
  Tensor change = tangents.back();
  const auto of_um = tangents.subspan(1, tangents.size() - 2);
  if (std::any_of(of_um.begin(), of_um.end(), [](const Tensor& t) { return t.is_valid(); }))
    change = add_tangents(change, negative(product_at(args).jvp(of_um)));
  return apply(args, args.as<ImplicitAttrs>().side, {args.in.begin() + 1, args.in.end() - 1}, change);
}

Tensors implicit_apply_pull_back(R args, const Tensor& cotangent, const std::vector<bool>& wanted) {
  const Side other = args.as<ImplicitAttrs>().side == Side::adjoint ? Side::itself : Side::adjoint;
  const Tensor lambda = apply(args, other, {args.in.begin() + 1, args.in.end() - 1}, cotangent);
  Tensors result(args.in.size());
  result.back() = lambda;
  if (std::find(wanted.begin() + 1, wanted.end() - 1, true) == wanted.end() - 1) return result;
  const Tensors of_um = product_at(args).vjp(negative(lambda));
  std::copy(of_um.begin(), of_um.end(), result.begin() + 1);
  return result;
}

}  // namespace lodestone::engine
