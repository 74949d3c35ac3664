// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

#include <complex>
#include <memory>
#include <span>
#include <vector>

namespace lodestone::physics::linalg {

using Complex = std::complex<double>;

/// Compressed rows of a structurally symmetric sparse matrix, full pattern, columns sorted in each row.
struct SparsityPattern {
  std::vector<int> row_start;  ///< (n + 1)
  std::vector<int> column;     ///< (n_nonzero)
  [[nodiscard]] int size() const { return static_cast<int>(row_start.size()) - 1; }
};

/// The factors of one complex-symmetric matrix (A = Aᵀ, not Hermitian). Sequential, immutable.
class Factorization {
 public:
  virtual ~Factorization() = default;
  Factorization(const Factorization&) = delete;
  Factorization& operator=(const Factorization&) = delete;

  /// Returns A⁻¹ B for all columns in one call. shapes: (n, k) → (n, k). errors: ShapeError, SolverError.
  [[nodiscard]] Eigen::MatrixXcd solve(const Eigen::Ref<const Eigen::MatrixXcd>& right_hand_sides) const;
  /// Returns B A⁻¹: right-hand sides as rows, for which line solvers need no copies. shapes: (k, n) → (k, n).
  /// errors: ShapeError, SolverError.
  [[nodiscard]] Eigen::MatrixXcd solve_rows(Eigen::MatrixXcd right_hand_sides) const;
  /// Returns the number of complex numbers in the factors: a solve reads each once per sweep and multiplies
  /// each once per right-hand side.
  [[nodiscard]] double entries() const { return entries_; }
  /// Returns the real flops of the factorization, counted or estimated from the factors.
  [[nodiscard]] double flops() const { return flops_; }

 protected:
  Factorization(int size, double entries, double flops) : size_(size), entries_(entries), flops_(flops) {}

 private:
  [[nodiscard]] virtual Eigen::MatrixXcd do_solve(
      const Eigen::Ref<const Eigen::MatrixXcd>& right_hand_sides) const = 0;
  [[nodiscard]] virtual Eigen::MatrixXcd do_solve_rows(Eigen::MatrixXcd right_hand_sides) const;
  int size_;
  double entries_, flops_;
};

/// Sparse direct solver for complex-symmetric matrices of one pattern; what depends on the pattern alone is
/// done once.
class SymmetricSolver {
 public:
  virtual ~SymmetricSolver() = default;
  SymmetricSolver(const SymmetricSolver&) = delete;
  SymmetricSolver& operator=(const SymmetricSolver&) = delete;

  [[nodiscard]] const SparsityPattern& pattern() const { return pattern_; }
  /// Factorizes a matrix. shapes: values (n_nonzero), order of the pattern. errors: ShapeError; SolverError
  /// (zero pivot, out of memory) with the reason.
  [[nodiscard]] std::unique_ptr<Factorization> factorize(std::span<const Complex> values) const;

 protected:
  explicit SymmetricSolver(SparsityPattern pattern) : pattern_(std::move(pattern)) {}

 private:
  [[nodiscard]] virtual std::unique_ptr<Factorization> do_factorize(
      std::span<const Complex> values) const = 0;
  SparsityPattern pattern_;
};

/// Makes a solver for any pattern: PETSc's sequential LU in nested-dissection order. Its calls wait for each
/// other, so that several threads may use it without gain. errors: SolverError where PETSc is not running.
[[nodiscard]] std::unique_ptr<SymmetricSolver> make_petsc_solver(SparsityPattern pattern);

/// Makes a solver for meshes numbered line by line, each line `line_size` unknowns coupled to its neighbours
/// only: block elimination along the lines with dense BLAS-3. For A = K + iM with K, M positive
/// semi-definite: every Schur complement keeps that form, so nothing pivots. cost: 4 to 5.3·line_size²·n
/// flops; beats nested dissection for lines up to several hundred unknowns (docs/decisions/002). errors:
/// InvalidArgument when the pattern couples lines that are not neighbours.
[[nodiscard]] std::unique_ptr<SymmetricSolver> make_line_solver(SparsityPattern pattern, int line_size);

/// Makes a line solver for elements of order 2: lines 1, 3, 5 … (middles of the cells) are coupled to the
/// lines beside them, the others also to the next but one. The middles go first, as bands. cost: 10 to
/// 11·line_size²·n flops. errors: InvalidArgument for any other pattern.
[[nodiscard]] std::unique_ptr<SymmetricSolver> make_condensed_line_solver(SparsityPattern pattern,
                                                                          int line_size);

}  // namespace lodestone::physics::linalg
