// SPDX-License-Identifier: Apache-2.0
// Rows of the factorization and the solve. Φ keeps the lower triangle and halves the diagonal; H makes a
// Hermitian matrix of a lower triangle.
#include "engine/ops/linalg.hpp"

#include "engine/core/error.hpp"
#include "engine/ops/attributes.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/register.hpp"
#include "engine/ops/rules.hpp"
#include "engine/ops/sampler.hpp"

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;

Tensor half_lower(const Tensor& x) { return 0.5 * (lower_triangle(x) + lower_triangle(x, -1)); }
Tensor hermitian(const Tensor& x) {
  const Tensor half = half_lower(x);
  return half + adjoint(half);
}
Tensor triangle_of(const Tensor& x, const SolveAttrs& attrs) {
  return attrs.lower ? lower_triangle(x) : upper_triangle(x);
}

Tensor solve(const Tensor& a, const Tensor& b, const SolveAttrs& attrs, const std::source_location& where) {
  return record(op_named("triangular_solve"), {a, b}, make_attrs(attrs), where);
}

void check_square(const InferArgs& args) {
  const Shape& a = args.aval(0).shape;
  if (a.rank() < 2 || a[a.rank() - 1] != a[a.rank() - 2])
    throw core::ShapeError(args.op.name + "#not_square", "expected square matrices [batch…, n, n], got {} {}",
                           args.aval(0).text(), at_line(args.where));
}

/// Positive definite with a condition number below 10, or triangular with a large diagonal.
Tensor sample_matrix(Sampler& sampler, const Shape& batch, Dim n) {
  Shape shape = batch;
  shape.push_back(n);
  shape.push_back(n);
  const Tensor x = sampler.tensor(shape, -1, 1);
  return (matmul(x, adjoint(x)) + (0.5 + static_cast<double>(n)) * eye(n, x.dtype(), x.device())).eval();
}
Dim sample_size(Sampler& sampler) {
  return sampler.chance(0.1) ? 0 : sampler.chance(0.15) ? sampler.integer(60, 70) : sampler.integer(1, 6);
}

Derivative of_cholesky() {
  Derivative result;
  result.formula =
      "L Φ(L^-1 H(dA) L^-H), Φ: the lower triangle with half the diagonal, H: Hermitian with this lower "
      "triangle";
  result.jvp = [](R args, std::span<const Tensor> tangents) {
    const Tensor& l = args.out;
    const Tensor left = solve(l, hermitian(tangents[0]), {true, false}, args.where);
    return matmul(l, half_lower(solve(l, adjoint(left), {true, false}, args.where)));
  };
  result.vjp = [](R args, const Tensor& cotangent, std::size_t) {
    const Tensor& l = args.out;
    const Tensor right = solve(l, half_lower(matmul(adjoint(l), cotangent)), {true, true}, args.where);
    const Tensor both = solve(l, adjoint(right), {true, true}, args.where);  // the adjoint of L^-H Φ(…) L^-1
    return half_lower(both + adjoint(both));
  };
  return result;
}

/// n of matrices n × n.
double order_of(const Aval& a) { return static_cast<double>(a.shape.back()); }

void register_cholesky(OpTable& table) {
  OpInfo row;
  row.name = "cholesky";
  row.formula = "lower L with L L^H = A, of which the lower triangle is read";
  row.dtypes = floats;
  row.infer = [](const InferArgs& args) {
    check_square(args);
    return args.aval(0);
  };
  row.derivative = of_cholesky();
  row.flops = [](const InferArgs&, const Aval& out) {
    return multiply_adds(static_cast<double>(out.count()) * order_of(out) / 6.0, out.dtype);
  };
  row.axes = [](const AxisArgs& args) {
    const int rank = args.out.shape.rank();
    return axis_by_axis(args, {rank - 2, rank - 1});
  };
  row.exact_when_cut = true;  // matrices are factorized one by one
  row.stacks = true;
  row.sample = [](Sampler& sampler) {
    const Shape batch = sampler.chance(0.6) ? Shape{} : Shape{sampler.integer(0, 3)};
    return Sample{{sample_matrix(sampler, batch, sample_size(sampler))}, {}};
  };
  table.add(std::move(row));
}

Derivative of_solve() {
  Derivative result;
  result.formula = "op(A)^-1 (dB - op(dA) X), dA: its triangle";
  result.jvp = [](R args, std::span<const Tensor> tangents) {
    const auto& attrs = args.as<SolveAttrs>();
    Tensor right = tangents[1];
    if (tangents[0].is_valid()) {
      const Tensor slope = triangle_of(tangents[0], attrs);
      right = add_tangents(right, negative(matmul(attrs.adjoint ? adjoint(slope) : slope, args.out)));
    }
    return solve(args.in[0], right, attrs, args.where);
  };
  result.vjp = [](R args, const Tensor& cotangent, std::size_t which) {
    const auto& attrs = args.as<SolveAttrs>();
    const Tensor lambda = solve(args.in[0], cotangent, {attrs.lower, !attrs.adjoint}, args.where);
    if (which == 1) return lambda;
    const Tensor product =
        attrs.adjoint ? matmul(args.out, adjoint(lambda)) : matmul(lambda, adjoint(args.out));
    return negative(triangle_of(product, attrs));
  };
  return result;
}

/// Matrices must be whole, right-hand sides are columns apart.
AxisMap axes_of_solve(const AxisArgs& args) {
  const int columns = args.out.shape.rank() - 1;
  AxisMap map = axis_by_axis(args, {columns - 1});
  map.set(0, columns, {});
  return map;
}

void register_triangular_solve(OpTable& table) {
  OpInfo row;
  row.name = "triangular_solve";
  row.formula = "X with op(A) X = B, op(A) a triangle of A or its adjoint";
  row.n_inputs = 2;
  row.dtypes = floats;
  row.infer = [](const InferArgs& args) {
    check_square(args);
    const Aval &a = args.aval(0), &b = args.aval(1);
    Shape expected = a.shape;
    if (b.shape.rank() == expected.rank()) expected[expected.rank() - 1] = b.shape.back();
    if (!(b.shape == expected) || a.dtype != b.dtype)
      throw core::ShapeError("triangular_solve#wrong_right_hand_sides",
                             "expected right-hand sides {}[batch…, n, k] for {}, got {} {}",
                             core::name_of(a.dtype), a.text(), b.text(), at_line(args.where));
    return b;
  };
  row.derivative = of_solve();
  row.flops = [](const InferArgs& args, const Aval& out) {
    return multiply_adds(static_cast<double>(out.count()) * order_of(args.aval(0)) / 2.0, out.dtype);
  };
  row.axes = axes_of_solve;
  row.stacks = true;
  row.sample = [](Sampler& sampler) {
    const Shape batch = sampler.chance(0.6) ? Shape{} : Shape{sampler.integer(0, 3)};
    const Dim n = sample_size(sampler);
    Shape b = batch;
    b.push_back(n);
    b.push_back(sampler.integer(0, 5));
    return Sample{{sample_matrix(sampler, batch, n), sampler.tensor(b, -1, 1)},
                  make_attrs(SolveAttrs{sampler.chance(0.5), sampler.chance(0.5)})};
  };
  table.add(std::move(row));
}

Shape stack_of(const Shape& shape, int n_matrix_axes) {
  return Shape(std::span(shape.begin(), static_cast<std::size_t>(std::max(shape.rank() - n_matrix_axes, 0))));
}

Tensor with_stack(const Located& x, const Shape& stack) {
  Shape shape = stack;
  shape.push_back(x.tensor.dim(-2));
  shape.push_back(x.tensor.dim(-1));
  return broadcast_to(x, shape);
}

/// Calls f(a, b) with right-hand sides as columns and equal batch axes.
template <class F>
Tensor with_columns(std::string_view what, const Located& a, const Located& b, F&& f) {
  if (a.tensor.rank() < 2 || b.tensor.rank() < 1)
    throw core::ShapeError(std::string(what) + "#wrong_ranks",
                           "expected matrices [batch…, n, n] and right-hand sides, got {} and {} {}",
                           a.tensor.aval().text(), b.tensor.aval().text(), at_line(a.where));
  const bool is_vector = b.tensor.rank() == a.tensor.rank() - 1;
  const Tensor columns = is_vector ? expand_dims(b, -1) : b.tensor;
  const Shape of_a = stack_of(a.tensor.shape(), 2), of_b = stack_of(columns.shape(), 2);
  const Shape stack = broadcast_shapes(what, {of_a, a.tensor.dtype()}, {of_b, a.tensor.dtype()}, a.where);
  const Tensor x = f(with_stack(a, stack), with_stack({columns, a.where}, stack));
  return is_vector ? squeeze(x, -1) : x;
}

}  // namespace

void register_linalg(OpTable& table) {
  register_cholesky(table);
  register_triangular_solve(table);
}

Tensor matrix_transpose(const Located& x) {
  const int rank = x.tensor.rank();
  if (rank < 2)
    throw core::ShapeError("matrix_transpose#no_matrix", "expected matrices [batch…, n, m], got {} {}",
                           x.tensor.aval().text(), at_line(x.where));
  return transpose(x, IntList::counting(rank - 2).inserted(rank - 2, rank - 1).inserted(rank - 1, rank - 2));
}

Tensor adjoint(const Located& x) { return conj({matrix_transpose(x), x.where}); }

Tensor cholesky(const Located& a) {
  static const OpInfo& op = op_named("cholesky");
  return record(op, {a.tensor}, {}, a.where);
}

Tensor triangular_solve(const Located& a, const Located& b, Triangle triangle, Form form) {
  return with_columns("triangular_solve", a, b, [&](const Tensor& matrices, const Tensor& columns) {
    const SolveAttrs attrs{triangle == Triangle::lower, form != Form::plain};
    if (form != Form::transposed) return solve(matrices, columns, attrs, a.where);
    return conj(solve(matrices, conj(columns), attrs, a.where));
  });
}

Tensor solve_spd(const Located& a, const Located& b) {
  return with_columns("solve_spd", {cholesky(a), a.where}, b, [&](const Tensor& l, const Tensor& columns) {
    return solve(l, solve(l, columns, {true, false}, a.where), {true, true}, a.where);
  });
}

Tensor log_determinant_spd(const Located& a) {
  return 2.0 * sum(log(real(diagonal({cholesky(a), a.where}))), Axes{-1});
}

}  // namespace lodestone::engine
