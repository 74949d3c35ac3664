// SPDX-License-Identifier: Apache-2.0
// Symbols: h a handle of the solutions for parameters m [items…, their shape], A = F_u at each of them; n unknowns; B, X [items…, k…, n].
#include "engine/transform/implicit.hpp"

#include "engine/core/error.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/register.hpp"
#include "engine/ops/rules.hpp"
#include "engine/transform/implicit_sample.hpp"
#include "engine/transform/transforms.hpp"

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;

const ImplicitProblem& problem_of(R args) { return *args.as<ImplicitAttrs>().problem; }

/// The solutions of every item.
class Solutions final : public Opaque {
 public:
  Solutions(Device device, std::vector<Solution> list) : Opaque(device, bytes_of(list)), items(std::move(list)) {}
  const std::vector<Solution> items;

 private:
  static std::size_t bytes_of(const std::vector<Solution>& list) {
    std::size_t total = 0;
    for (const Solution& item : list) total += item.factors->bytes();
    return total;
  }
};

const std::vector<Solution>& items_of(R args) { return static_cast<const Solutions&>(*args.in[0].node().object).items; }

Shape joined(const Shape& items, const Shape& shape) {
  Shape result = items;
  for (const Dim dim : shape) result.push_back(dim);
  return result;
}

/// x without its items' axes in front.
Shape items_shape(const Shape& shape, int n_axes) { return Shape(std::span(shape.begin(), static_cast<std::size_t>(n_axes))); }

/// Item i of x [items…, rest…].
Tensor item_of(const Tensor& x, int n_axes, Dim n_items, Dim i) {
  if (n_axes == 0) return x;
  Shape flat{n_items};
  for (int axis = n_axes; axis < x.rank(); ++axis) flat.push_back(x.shape()[axis]);
  return squeeze(slice(reshape(x, flat), 0, i, i + 1), 0);
}

// ---- Values ------------------------------------------------------------------------------------------------------------------------------

void check_solution(const ImplicitProblem& problem, const Solution& solution) {
  if (!solution.u.is_valid() || !solution.factors)
    throw core::InvalidArgument("implicit", "{}: expected a solution and its factorisation, the solver gave {}", problem.name,
                                solution.u.is_valid() ? "no factorisation" : "no solution");
  if (!(solution.u.shape() == problem.unknown) || solution.u.dtype() != problem.dtype) {
    throw core::ShapeError("implicit", "{}: expected a solution {}{}, the solver gave {}", problem.name, core::name_of(problem.dtype),
                           problem.unknown.text(), solution.u.aval().text());
  }
}

Tensor run_solve(R args) {
  const auto& attrs = args.as<ImplicitAttrs>();
  const Shape items = items_shape(args.in[0].shape(), attrs.n_item_axes);
  std::vector<Solution> solutions;
  for (Dim i = 0; i < items.count(); ++i) {
    Tensors m;
    for (const Tensor& each : args.in) m.push_back(item_of(each, attrs.n_item_axes, items.count(), i));
    eval(m);
    solutions.push_back(attrs.problem->solve(m));
    check_solution(*attrs.problem, solutions.back());
    solutions.back().u.eval();
  }
  NodePtr node(new Node);
  node->aval = {items, attrs.problem->dtype, args.in[0].device(), {}, Kind::handle};
  node->object = OpaquePtr(new Solutions(args.in[0].device(), std::move(solutions)));
  return Tensor(std::move(node));
}

Tensor run_value(R args) {
  const Shape shape = joined(args.in[0].shape(), problem_of(args).unknown);
  Tensors parts;
  for (const Solution& item : items_of(args)) parts.push_back(expand_dims(item.u, 0));
  return parts.empty() ? zeros(shape, problem_of(args).dtype, args.in[0].device()) : reshape(concatenate(parts, 0), shape);
}

Tensor run_apply(R args) {
  const auto& attrs = args.as<ImplicitAttrs>();
  const Tensor& b = args.in.back();
  if (b.count() == 0) return zeros_like(b);
  const Dim n = b.shape().back(), n_items = std::ssize(items_of(args));
  const Tensor blocks = reshape(b, {n_items, b.count() / n / n_items, n});
  Tensors parts;
  for (Dim i = 0; i < n_items; ++i) {
    const Tensor block = squeeze(slice(blocks, 0, i, i + 1), 0).eval();
    const ImplicitFactors& factors = *items_of(args)[static_cast<std::size_t>(i)].factors;
    const Tensor x = attrs.side == Side::adjoint ? factors.solve_adjoint(block) : factors.solve(block);
    if (!x.is_valid() || !(x.shape() == block.shape()) || x.dtype() != block.dtype()) {
      throw core::ShapeError("implicit", "{}: expected {} from {}, got {}", attrs.name, block.aval().text(),
                             attrs.side == Side::adjoint ? "solve_adjoint" : "solve", x.is_valid() ? x.aval().text() : "nothing");
    }
    parts.push_back(x);
  }
  return reshape(concatenate(parts, 0), b.shape());
}

// ---- Derivatives -------------------------------------------------------------------------------------------------------------------------

/// f of an item as a function of all of them; `x` with axes of its own behind the items' counts as the last argument.
Function over_items(Function f, std::size_t n_arguments, int n_item_axes, int n_own_axes = 0) {
  std::vector<bool> only_last(n_arguments, false);
  only_last.back() = true;
  for (int axis = 0; axis < n_own_axes; ++axis) f = vmap(f, only_last);
  for (int axis = 0; axis < n_item_axes; ++axis) f = vmap(f);
  return f;
}

/// F(u, m) of one item.
Function residual_of(const ImplicitAttrs& attrs) {
  return [problem = attrs.problem](const Tensors& um) -> Tensors {
    const Tensor f = problem->residual(um[0], {um.begin() + 1, um.end()});
    if (f.count() != um[0].count()) {
      throw core::ShapeError("implicit", "{}: expected as many equations as unknowns {}, F gives {}", problem->name, um[0].aval().text(),
                             f.aval().text());
    }
    return {f};
  };
}

/// A x, or Aᴴ x, of one item as a function of u, m and x [n].
Function product_of(const ImplicitAttrs& attrs) {
  return [residual = residual_of(attrs), side = attrs.side](const Tensors& umx) -> Tensors {
    const Function of_u = [&](const Tensors& u) {
      Tensors um(umx.begin(), umx.end() - 1);
      um[0] = u[0];
      return residual(um);
    };
    const Linearized at = linearize(of_u, {umx[0]});
    const Shape flat{umx[0].count()};
    if (side == Side::adjoint) return {reshape(at.vjp({reshape(umx.back(), at.value()[0].shape())})[0], flat)};
    return {reshape(at.jvp({reshape(umx.back(), umx[0].shape())})[0], flat)};
  };
}

/// f as a function of the floating-point ones among its arguments `from`, …, with the rest as they are.
class Partials {
 public:
  Partials(const Function& f, Tensors arguments, std::size_t from) : arguments_(std::move(arguments)) {
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
        at));
  }
  /// Tangents of all arguments in, those of the value out.
  [[nodiscard]] Tensor jvp(std::span<const Tensor> tangents) const {
    Tensors along;
    for (const std::size_t i : which_) along.push_back(tangents[i]);
    return linearized_->jvp(along)[0];
  }
  /// Cotangents of all arguments; not valid for those left alone.
  [[nodiscard]] Tensors vjp(const Tensor& cotangent) const {
    Tensors result(arguments_.size());
    const Tensors back = linearized_->vjp({cotangent});
    for (std::size_t k = 0; k < which_.size(); ++k) result[which_[k]] = back[k];
    return result;
  }
  [[nodiscard]] const Shape& shape() const { return linearized_->value()[0].shape(); }

 private:
  Tensors arguments_;
  std::vector<std::size_t> which_;
  std::optional<Linearized> linearized_;
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

/// [items…, n] of [items…, shape of u or F].
Tensor flat(R args, const Tensor& x) { return reshape({x, args.where}, joined(args.in[0].shape(), {problem_of(args).unknown.count()})); }

/// F(u, ·) at the solution u = args.out.
Partials residual_at(R args) {
  const auto& attrs = args.as<ImplicitAttrs>();
  Tensors um{args.out};
  um.insert(um.end(), args.in.begin() + 1, args.in.end());
  return {over_items(residual_of(attrs), um.size(), attrs.n_item_axes), um, 1};
}

Tensors solution_and_parameters(R args) {
  Tensors um{args.out};
  um.insert(um.end(), args.in.begin() + 1, args.in.end());
  return um;
}

Tensor value_jvp(R args, std::span<const Tensor> tangents) {
  const Tensor change = residual_at(args).jvp(tangents);  // input 0, the handle, stands where u stands
  return reshape(negative(apply(args, Side::itself, solution_and_parameters(args), flat(args, change))), args.out.shape());
}

Tensors value_pull_back(R args, const Tensor& cotangent, const std::vector<bool>&) {
  const Partials residual = residual_at(args);
  const Tensor lambda = apply(args, Side::adjoint, solution_and_parameters(args), flat(args, cotangent));
  return residual.vjp(negative(reshape(lambda, residual.shape())));
}

/// (u, m) ↦ A(u, m) X, or Aᴴ X, at X = args.out.
Partials product_at(R args) {
  const auto& attrs = args.as<ImplicitAttrs>();
  const Tensor& x = args.out;
  Tensors um(args.in.begin() + 1, args.in.end() - 1);
  const Function product = over_items(product_of(attrs), um.size() + 1, attrs.n_item_axes, x.rank() - attrs.n_item_axes - 1);
  return {[product, x](const Tensors& at) {
            Tensors umx = at;
            umx.push_back(x);
            return product(umx);
          },
          um, 0};
}

Tensor apply_jvp(R args, std::span<const Tensor> tangents) {
  Tensor change = tangents.back();
  const auto of_um = tangents.subspan(1, tangents.size() - 2);
  if (std::any_of(of_um.begin(), of_um.end(), [](const Tensor& t) { return t.is_valid(); }))
    change = add_tangents(change, negative(product_at(args).jvp(of_um)));
  return apply(args, args.as<ImplicitAttrs>().side, {args.in.begin() + 1, args.in.end() - 1}, change);
}

Tensors apply_pull_back(R args, const Tensor& cotangent, const std::vector<bool>& wanted) {
  const Side other = args.as<ImplicitAttrs>().side == Side::adjoint ? Side::itself : Side::adjoint;
  const Tensor lambda = apply(args, other, {args.in.begin() + 1, args.in.end() - 1}, cotangent);
  Tensors result(args.in.size());
  result.back() = lambda;
  if (std::find(wanted.begin() + 1, wanted.end() - 1, true) == wanted.end() - 1) return result;
  const Tensors of_um = product_at(args).vjp(negative(lambda));
  std::copy(of_um.begin(), of_um.end(), result.begin() + 1);
  return result;
}

// ---- Rows --------------------------------------------------------------------------------------------------------------------------------

/// The same op for one more axis of items, which every input carries.
Tensor batch_items(R args, const std::vector<bool>& batched) {
  const Dim size = batch_size(args, batched);
  Tensors inputs;
  for (std::size_t i = 0; i < batched.size(); ++i) {
    if (args.in[i].aval().kind != Kind::array && !batched[i])
      throw core::InvalidArgument(args.op.name, "expected a factorisation for every item of {} {}", args.as<ImplicitAttrs>().name,
                                  at_line(args.where));
    inputs.push_back(with_batch(args.in[i], batched[i], size));
  }
  ImplicitAttrs attrs = args.as<ImplicitAttrs>();
  ++attrs.n_item_axes;
  return record(args.op, inputs, make_attrs(attrs), args.where);
}

/// More right-hand sides for the same items are one solve.
Tensor batch_apply(R args, const std::vector<bool>& batched) {
  if (std::find(batched.begin(), batched.end() - 1, true) != batched.end() - 1) return batch_items(args, batched);
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
  row.runs_when_recorded = [](const Attrs*) { return true; };
  return row;
}

Aval infer_solve(const InferArgs& args) {
  const auto& attrs = args.as<ImplicitAttrs>();
  return {items_shape(args.aval(0).shape, attrs.n_item_axes), attrs.problem->dtype, args.aval(0).device, {}, Kind::handle};
}

Aval infer_value(const InferArgs& args) {
  const auto& problem = *args.as<ImplicitAttrs>().problem;
  return {joined(args.aval(0).shape, problem.unknown), problem.dtype, args.aval(0).device};
}

Aval infer_apply(const InferArgs& args) {
  const auto& attrs = args.as<ImplicitAttrs>();
  const Aval& b = args.in.back().aval();
  const Shape& items = args.aval(0).shape;
  bool fits = b.shape.rank() > items.rank() && b.shape.back() == attrs.problem->unknown.count() && b.dtype == attrs.problem->dtype;
  for (int axis = 0; fits && axis < items.rank(); ++axis) fits = b.shape[axis] == items[axis];
  if (!fits) {
    throw core::ShapeError("implicit_apply", "{}: expected right-hand sides {}[{}…, {}], got {} {}", attrs.name,
                           core::name_of(attrs.problem->dtype), items.empty() ? "" : items.text(), attrs.problem->unknown.count(), b.text(),
                           at_line(args.where));
  }
  return b;
}

}  // namespace

void register_implicit(OpTable& table) {
  OpInfo solve = row_of("implicit_solve", "a handle of u with F(u, m) = 0 and of the factors of F_u");
  solve.infer = infer_solve;
  solve.run = run_solve;
  solve.derivative = no_derivative("it keeps what the derivatives of implicit_value are solved with");
  solve.batch = batch_items;
  solve.sample = sample_implicit_solve;
  table.add(std::move(solve));

  OpInfo value = row_of("implicit_value", "u, of its handle h, as a function of m");
  value.infer = infer_value;
  value.run = run_value;
  value.derivative.formula = "-F_u⁻¹ F_m dm; adjoint: -F_mᴴ F_u⁻ᴴ ū";
  value.derivative.jvp = value_jvp;
  value.derivative.pull_back = value_pull_back;
  value.batch = batch_items;
  value.sample = sample_implicit_value;
  table.add(std::move(value));

  OpInfo product = row_of("implicit_apply", "X with A X = B, or Aᴴ X = B, A = F_u, for k right-hand sides in one call");
  product.infer = infer_apply;
  product.run = run_apply;
  product.derivative.formula = "A⁻¹ (dB - dA X); adjoint: B̄ = A⁻ᴴ X̄, Ā = -B̄ Xᴴ";
  product.derivative.jvp = apply_jvp;
  product.derivative.pull_back = apply_pull_back;
  product.batch = batch_apply;
  product.sample = sample_implicit_apply;
  table.add(std::move(product));
}

Function implicit(ImplicitProblem problem, std::source_location where) {
  if (!problem.residual || !problem.solve)
    throw core::InvalidArgument("implicit", "expected F and a solver for \"{}\", got an empty function {}", problem.name, at_line(where));
  if (!core::is_float(problem.dtype))
    throw core::InvalidArgument("implicit", "expected floating-point unknowns of \"{}\", got {} {}", problem.name,
                                core::name_of(problem.dtype), at_line(where));
  const std::string name = problem.name;
  const auto shared = std::make_shared<const ImplicitProblem>(std::move(problem));
  return [attrs = make_attrs(ImplicitAttrs{shared, name}), where](const Tensors& m) -> Tensors {
    static const OpInfo &solve = op_named("implicit_solve"), &value = op_named("implicit_value");
    if (m.empty()) throw core::InvalidArgument("implicit", "expected parameters, got none {}", at_line(where));
    Tensors inputs{record(solve, m, attrs, where)};
    inputs.insert(inputs.end(), m.begin(), m.end());
    return {record(value, inputs, attrs, where)};
  };
}

}  // namespace lodestone::engine
