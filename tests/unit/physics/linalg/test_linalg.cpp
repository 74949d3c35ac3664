// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/random.hpp"
#include "physics/linalg/symmetric_solver.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <Eigen/Dense>

using namespace lodestone;
using namespace lodestone::physics::linalg;

namespace {

struct Problem {
  SparsityPattern pattern;
  std::vector<Complex> values;
  Eigen::MatrixXcd dense;
};

/// Returns K + iM of a mesh of `lines` lines with `size` nodes: nine-point, complex symmetric, diagonally
/// heavy enough to be definite.
Problem mesh_problem(int lines, int size) {
  Problem problem;
  const core::Philox random(7);
  const int n = lines * size;
  problem.dense = Eigen::MatrixXcd::Zero(n, n);
  problem.pattern.row_start.push_back(0);
  for (int row = 0; row < n; ++row) {
    for (int line = std::max(0, row / size - 1); line <= std::min(lines - 1, row / size + 1); ++line) {
      for (int k = std::max(0, row % size - 1); k <= std::min(size - 1, row % size + 1); ++k) {
        const int column = line * size + k;
        const auto low = static_cast<std::uint64_t>(std::min(row, column)),
                   high = static_cast<std::uint64_t>(std::max(row, column));
        const Complex value = row == column ? Complex(9.0, 2.0)
                                            : Complex(-random.uniform(1000 * low + high),
                                                      0.2 * random.uniform(77 + 1000 * low + high));
        problem.pattern.column.push_back(column);
        problem.values.push_back(value);
        problem.dense(row, column) = value;
      }
    }
    problem.pattern.row_start.push_back(static_cast<int>(problem.pattern.column.size()));
  }
  return problem;
}

}  // namespace

TEST_CASE("line solver and PETSc: both solve many right-hand sides to rounding", "[physics][linalg]") {
  const auto problem = mesh_problem(11, 7);
  const Eigen::MatrixXcd rhs = Eigen::MatrixXcd::Random(77, 5),
                         exact = problem.dense.partialPivLu().solve(rhs);
  const auto by_lines = make_line_solver(problem.pattern, 7)->factorize(problem.values);
  const auto by_petsc = make_petsc_solver(problem.pattern)->factorize(problem.values);
  CHECK((by_lines->solve(rhs) - exact).norm() < 1e-12 * exact.norm());
  CHECK((by_petsc->solve(rhs) - exact).norm() < 1e-12 * exact.norm());
  CHECK(by_lines->entries() == 11 * 49);
  CHECK(by_petsc->entries() > 77);
}

TEST_CASE("line solver: lines of many unknowns, which are inverted by halves, and of few, which are swept",
          "[physics][linalg]") {
  for (const int size : {5, 32, 97, 130}) {
    const auto problem = mesh_problem(3, size);
    const Eigen::MatrixXcd rhs = Eigen::MatrixXcd::Random(3 * size, 2);
    const Eigen::MatrixXcd x = make_line_solver(problem.pattern, size)->factorize(problem.values)->solve(rhs);
    CHECK((problem.dense * x - rhs).norm() < 1e-12 * rhs.norm());
  }
}

TEST_CASE("solvers: right-hand sides as rows give the same as columns, wherever their sources begin",
          "[physics][linalg]") {
  const auto problem = mesh_problem(6, 4);
  Eigen::MatrixXcd rhs = Eigen::MatrixXcd::Random(24, 5);
  rhs.col(0).head(17).setZero();
  rhs.col(3).setZero();
  rhs.col(4).tail(20).setZero();
  for (const auto& solver : {make_line_solver(problem.pattern, 4), make_petsc_solver(problem.pattern)}) {
    const auto factors = solver->factorize(problem.values);
    const Eigen::MatrixXcd x = factors->solve_rows(rhs.transpose());
    CHECK((problem.dense * x.transpose() - rhs).norm() < 1e-12 * rhs.norm());
    CHECK(factors->solve_rows(Eigen::MatrixXcd(0, 24)).rows() == 0);
    CHECK_THAT(tests::error_of<core::ShapeError>([&] { static_cast<void>(factors->solve_rows(rhs)); }),
               tests::HasId("wrong_columns", {"24"}));
  }
}

TEST_CASE("condensed line solver: odd lines between coupled even lines, as of elements of order 2",
          "[physics][linalg]") {
  const int lines = 7, size = 5, n = lines * size;
  SparsityPattern pattern{{0}, {}};
  std::vector<Complex> values;
  Eigen::MatrixXcd dense = Eigen::MatrixXcd::Zero(n, n);
  for (int row = 0; row < n; ++row) {
    const int line = row / size, reach = line % 2 == 0 ? 2 : 1;
    for (int column = 0; column < n; ++column) {
      if (std::abs(column / size - line) > reach || std::abs(column % size - row % size) > 2) continue;
      const Complex value(row == column ? 12.0 : 1.0 / (2.0 + row + column),
                          row == column ? 3.0 : -0.1 * std::cos(row * column));
      pattern.column.push_back(column);
      values.push_back(value);
      dense(row, column) = value;
    }
    pattern.row_start.push_back(static_cast<int>(pattern.column.size()));
  }
  const Eigen::MatrixXcd rhs = Eigen::MatrixXcd::Random(n, 3);
  const Eigen::MatrixXcd x = make_condensed_line_solver(pattern, size)->factorize(values)->solve(rhs);
  CHECK((dense * x - rhs).norm() < 1e-12 * rhs.norm());
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(make_condensed_line_solver(mesh_problem(6, 5).pattern, 5)); }),
             tests::HasId("lines_not_odd"));
}

TEST_CASE("line solver: a single line and single unknowns per line are not special", "[physics][linalg]") {
  for (const auto& [lines, size] : {std::pair{1, 6}, std::pair{6, 1}}) {
    const auto problem = mesh_problem(lines, size);
    const Eigen::MatrixXcd rhs = Eigen::MatrixXcd::Random(6, 2);
    const Eigen::MatrixXcd x = make_line_solver(problem.pattern, size)->factorize(problem.values)->solve(rhs);
    CHECK((problem.dense * x - rhs).norm() < 1e-12);
  }
}

TEST_CASE("solvers: a singular matrix is a SolverError, wrong shapes are named", "[physics][linalg]") {
  auto problem = mesh_problem(3, 2);
  std::fill(problem.values.begin(), problem.values.end(), Complex(0.0));
  CHECK_THROWS_AS(make_line_solver(problem.pattern, 2)->factorize(problem.values), core::SolverError);
  CHECK_THROWS_AS(make_petsc_solver(problem.pattern)->factorize(problem.values), core::SolverError);
  const auto solver = make_line_solver(mesh_problem(3, 2).pattern, 2);
  CHECK_THAT(tests::error_of<core::ShapeError>(
                 [&] { static_cast<void>(solver->factorize(std::vector<Complex>(3))); }),
             tests::HasId("wrong_size", {"3"}));
  CHECK_THAT(
      tests::error_of<core::ShapeError>([&] {
        static_cast<void>(solver->factorize(mesh_problem(3, 2).values)->solve(Eigen::MatrixXcd::Zero(5, 1)));
      }),
      tests::HasId("wrong_rows", {"6", "5"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(make_line_solver(mesh_problem(5, 2).pattern, 1)); }),
             tests::HasId("coupled_too_far"));
}
