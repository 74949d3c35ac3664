// SPDX-License-Identifier: Apache-2.0
// Symbols as in implicit_ops.hpp.
#include "engine/core/error.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/record.hpp"
#include "engine/transform/implicit_ops.hpp"

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;

const ImplicitProblem& problem_of(R args) { return *args.as<ImplicitAttrs>().problem; }

/// The solutions of every item.
class Solutions final : public Opaque {
 public:
  Solutions(Device device, std::vector<Solution> list)
      : Opaque(device, bytes_of(list)), items(std::move(list)) {}
  const std::vector<Solution> items;

 private:
  static std::size_t bytes_of(const std::vector<Solution>& list) {
    std::size_t total = 0;
    for (const Solution& item : list) total += item.factors->bytes();
    return total;
  }
};

const std::vector<Solution>& items_of(R args) {
  return static_cast<const Solutions&>(*args.in[0].node().object).items;
}

/// Returns item i of x [items…, rest…].
Tensor item_of(const Tensor& x, int n_axes, Dim n_items, Dim i) {
  if (n_axes == 0) return x;
  Shape flat{n_items};
  for (int axis = n_axes; axis < x.rank(); ++axis) flat.push_back(x.shape()[axis]);
  return squeeze(slice(reshape(x, flat), 0, i, i + 1), 0);
}

void check_solution(R args, const Solution& solution) {
  const ImplicitProblem& problem = problem_of(args);
  if (!solution.u.is_valid() || !solution.factors)
    throw core::InvalidArgument("implicit#incomplete_solution",
                                "{}: expected a solution and its factorization, the solver gave {} {}",
                                problem.name, solution.u.is_valid() ? "no factorization" : "no solution",
                                at_line(args.where));
  if (!(solution.u.shape() == problem.unknown) || solution.u.dtype() != problem.dtype) {
    throw core::ShapeError("implicit#wrong_solution", "{}: expected a solution {}{}, the solver gave {} {}",
                           problem.name, core::name_of(problem.dtype), problem.unknown.text(),
                           solution.u.aval().text(), at_line(args.where));
  }
}

}  // namespace

Shape items_shape(const Shape& shape, int n_axes) {
  return Shape(std::span(shape.begin(), static_cast<std::size_t>(n_axes)));
}

Shape joined(const Shape& items, const Shape& shape) {
  Shape result = items;
  for (const Dim dim : shape) result.push_back(dim);
  return result;
}

Tensor run_implicit_solve(R args) {
  const auto& attrs = args.as<ImplicitAttrs>();
  const Shape items = items_shape(args.in[0].shape(), attrs.n_item_axes);
  std::vector<Solution> solutions;
  for (Dim i = 0; i < items.count(); ++i) {
    Tensors m;
    for (const Tensor& each : args.in) m.push_back(item_of(each, attrs.n_item_axes, items.count(), i));
    eval(m);
    solutions.push_back(attrs.problem->solve(m));
    check_solution(args, solutions.back());
    solutions.back().u.eval();
  }
  NodePtr node(new Node);
  node->aval = {items, attrs.problem->dtype, args.in[0].device(), Kind::handle};
  node->object = OpaquePtr(new Solutions(args.in[0].device(), std::move(solutions)));
  return Tensor(std::move(node));
}

Tensor run_implicit_value(R args) {
  const Shape shape = joined(args.in[0].shape(), problem_of(args).unknown);
  Tensors parts;
  for (const Solution& item : items_of(args)) parts.push_back(expand_dims(item.u, 0));
  return parts.empty() ? zeros(shape, problem_of(args).dtype, args.in[0].device())
                       : reshape(concatenate(parts, 0), shape);
}

Tensor run_implicit_apply(R args) {
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
      throw core::ShapeError("implicit#wrong_solved_block", "{}: expected {} from {}, got {} {}",
                             attrs.problem->name, block.aval().text(),
                             attrs.side == Side::adjoint ? "solve_adjoint" : "solve",
                             x.is_valid() ? x.aval().text() : "nothing", at_line(args.where));
    }
    parts.push_back(x);
  }
  return reshape(concatenate(parts, 0), b.shape());
}

}  // namespace lodestone::engine
