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
class Factorisation {
 public:
  ~Factorisation();
  Factorisation(Factorisation&&) noexcept;
  Factorisation& operator=(Factorisation&&) noexcept;

  /// A⁻¹ B for all columns in one call. shapes: (n, k) → (n, k). errors: SolverError.
  [[nodiscard]] Eigen::MatrixXcd solve(const Eigen::Ref<const Eigen::MatrixXcd>& right_hand_sides) const;
  /// Nonzeros in the factors and flops of the numeric step, as the solver reports or estimates them.
  [[nodiscard]] double factor_nonzeros() const;

 private:
  friend class SymmetricSolver;
  struct Impl;
  explicit Factorisation(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Sparse direct solver for matrices of one pattern: the fill-reducing ordering is computed once and reused.
class SymmetricSolver {
 public:
  explicit SymmetricSolver(SparsityPattern pattern);
  ~SymmetricSolver();
  SymmetricSolver(const SymmetricSolver&) = delete;
  SymmetricSolver& operator=(const SymmetricSolver&) = delete;

  [[nodiscard]] const SparsityPattern& pattern() const;
  /// shapes: values (n_nonzero), order of the pattern. errors: SolverError (zero pivot, out of memory) with PETSc's reason.
  [[nodiscard]] Factorisation factorise(std::span<const Complex> values) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lodestone::physics::linalg
