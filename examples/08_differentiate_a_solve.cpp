// SPDX-License-Identifier: Apache-2.0
// What this shows: a sparse PETSc solve as part of a function of tensors. F(u, m) = 0 is written with ops,
// PETSc solves it, and gradient, Jacobian and curvature use the factorization of the forward solve; no solver
// is differentiated.
//
// Equation: (K + i diag eᵐ) u = s, diffusion on a grid; data |u|² at the surface; F_uᴴ λ = ū, m̄ = −F_mᴴ λ
//
// Sample run: 08_differentiate_a_solve
//
// Builds on: 04_derivative_check
#include "engine/core/map_checks.hpp"
#include "engine/core/mpi/mpi_scope.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/function_map.hpp"
#include "engine/transform/implicit.hpp"
#include "engine/transform/transforms.hpp"
#include "physics/linalg/petsc_scope.hpp"
#include "physics/linalg/symmetric_solver.hpp"

#include <fmt/core.h>

using namespace lodestone;
using namespace lodestone::engine;
using physics::linalg::Complex;

namespace {

constexpr Dim n = 16;  // cells along each side
constexpr Dim n_cells = n * n;
int n_factorizations = 0, n_solves = 0, n_right_hand_sides = 0;

/// Returns every cell and its neighbours, in compressed rows: 4 on the diagonal of K, −1 beside it.
physics::linalg::SparsityPattern five_points() {
  physics::linalg::SparsityPattern pattern{{0}, {}};
  for (int cell = 0; cell < n_cells; ++cell) {
    const int row = cell / static_cast<int>(n), column = cell % static_cast<int>(n);
    const int size = static_cast<int>(n);
    if (row > 0) pattern.column.push_back(cell - size);
    if (column > 0) pattern.column.push_back(cell - 1);
    pattern.column.push_back(cell);
    if (column + 1 < size) pattern.column.push_back(cell + 1);
    if (row + 1 < size) pattern.column.push_back(cell + size);
    pattern.row_start.push_back(static_cast<int>(pattern.column.size()));
  }
  return pattern;
}

using Columns = Eigen::Map<const Eigen::MatrixXcd>;  // [k, n] row by row is (n, k) column by column
Columns columns_of(const Tensor& x) { return {x.data<Complex>().data(), x.dim(-1), x.count() / x.dim(-1)}; }
Tensor tensor_of(const Eigen::MatrixXcd& x, const Shape& shape) {
  return Tensor::from(std::span(x.data(), static_cast<std::size_t>(x.size())), shape);
}

/// PETSc's factors of A = Aᵀ; Aᴴ x = b is A x̄ = b̄.
class Factors final : public ImplicitFactors {
 public:
  explicit Factors(std::unique_ptr<physics::linalg::Factorization> factors) : factors_(std::move(factors)) {
    ++n_factorizations;
  }
  Tensor solve(const Tensor& b) const override { return tensor_of(solved(columns_of(b)), b.shape()); }
  Tensor solve_adjoint(const Tensor& b) const override {
    return tensor_of(solved(columns_of(b).conjugate()).conjugate(), b.shape());
  }
  std::size_t bytes() const override {
    return static_cast<std::size_t>(factors_->entries()) * sizeof(Complex);
  }

 private:
  [[nodiscard]] Eigen::MatrixXcd solved(const Eigen::MatrixXcd& b) const {
    ++n_solves;
    n_right_hand_sides += static_cast<int>(b.cols());
    return factors_->solve(b);
  }
  std::unique_ptr<physics::linalg::Factorization> factors_;
};

/// Returns a source of one at the middle of the surface.
Tensor source() { return pad(ones({1}, DType::c128), {n / 2}, {n_cells - n / 2 - 1}); }

/// Returns (K + i diag eᵐ) u − s.
Tensor residual(const Tensor& u, const Tensors& m) {
  const Tensor field = reshape(u, {n, n}), around = pad(field, {1, 1}, {1, 1});
  const auto beside = [&](Dim row, Dim column) {
    return slice(slice(around, 0, row, row + n), 1, column, column + n);
  };
  const Tensor stiffness = 4.0 * field - beside(0, 1) - beside(2, 1) - beside(1, 0) - beside(1, 2);
  return reshape(stiffness, {n_cells}) + complex(0.0 * m[0], exp(m[0])) * u - source();
}

/// Returns that function with PETSc.
Function field_of() {
  const std::shared_ptr<const physics::linalg::SymmetricSolver> solver =
      physics::linalg::make_petsc_solver(five_points());
  const auto solve = [solver](const Tensors& m) -> Solution {
    const auto& [row_start, column] = solver->pattern();
    std::vector<Complex> values(column.size(), -1.0);
    for (std::size_t row = 0; row + 1 < row_start.size(); ++row) {
      for (int k = row_start[row]; k < row_start[row + 1]; ++k) {
        if (column[static_cast<std::size_t>(k)] == static_cast<int>(row))
          values[static_cast<std::size_t>(k)] = {4.0, std::exp(m[0].data<double>()[row])};
      }
    }
    auto factors = std::make_unique<Factors>(solver->factorize(values));
    const Tensor s = source();
    return {reshape(factors->solve(reshape(s, {1, n_cells})), {n_cells}), std::move(factors)};
  };
  return implicit({.name = "diffusion",
                   .unknown = {n_cells},
                   .dtype = DType::c128,
                   .residual = residual,
                   .solve = solve});
}

void print_counts(const char* what) {
  fmt::print("{}: {} factorization(s), {} call(s) for {} right-hand side(s)\n", what, n_factorizations,
             n_solves, n_right_hand_sides);
  n_factorizations = n_solves = n_right_hand_sides = 0;
}

}  // namespace

int main(int argc, char** argv) {
  core::Session session;
  session.start<core::MpiScope>(argc, argv);
  session.start<physics::PetscScope>();

  return session.run([] {
    const Function field = field_of();
    const auto data = [&](const Tensor& m) {
      const Tensor u = slice(field({m})[0], 0, 0, n);
      return real(u * conj(u));
    };
    const auto energy = [&](const Tensor& m) { return sum(data(m)); };
    const Tensor m = full({n_cells}, -3.0, DType::f64);

    fmt::print("energy at the surface {:.6f}\n", energy(m).item<double>());
    print_counts("value");
    const Tensor slope = grad(energy)(m).eval();
    print_counts("gradient");
    const Tensor rows = jacobian(data, m, JacobianMode::reverse).eval();
    print_counts(fmt::format("Jacobian {}", rows.shape().text()).c_str());
    const double curvature = sum(slope * hessian_product(energy, m, slope)).item<double>();
    print_counts("second derivative");
    fmt::print("curvature along the gradient {:.6e}\n\n", curvature);

    const core::MapPtr map = function_map(data, {.name = "diffusion", .n_in = n_cells});
    const Eigen::VectorXd at = Eigen::VectorXd::Constant(n_cells, -3.0);
    const core::MapCheckResult derivative = core::check_derivative(*map, at),
                               adjoint = core::check_adjoint(*map, at);
    fmt::print("{}\n{}", derivative.report, adjoint.report);
    return derivative.passed && adjoint.passed ? 0 : 1;
  });
}
