// SPDX-License-Identifier: Apache-2.0
#include "physics/linalg/symmetric_solver.hpp"

#include "physics/linalg/petsc_error.hpp"

#include <petscmat.h>

#include <algorithm>
#include <utility>

namespace lodestone::physics::linalg {

namespace {

/// Owns one PETSc object; destroyed before PetscFinalize because simulations die before the session.
template <class Handle, PetscErrorCode (*destroy)(Handle*)>
class Owned {
 public:
  Owned() = default;
  ~Owned() { destroy(&handle_); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  operator Handle() const { return handle_; }
  Handle* out() { return &handle_; }

 private:
  Handle handle_ = nullptr;
};
using OwnedMat = Owned<Mat, MatDestroy>;
using OwnedIndexSet = Owned<IS, ISDestroy>;

}  // namespace

struct Factorisation::Impl {
  OwnedMat factor;
  int n = 0;
  double nonzeros = 0.0;
};

Factorisation::Factorisation(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Factorisation::~Factorisation() = default;
Factorisation::Factorisation(Factorisation&&) noexcept = default;
Factorisation& Factorisation::operator=(Factorisation&&) noexcept = default;

Eigen::MatrixXcd Factorisation::solve(const Eigen::Ref<const Eigen::MatrixXcd>& right_hand_sides) const {
  if (right_hand_sides.rows() != impl_->n) {
    throw core::ShapeError("linalg::Factorisation", "expected right-hand sides with {} rows, got {}", impl_->n, right_hand_sides.rows());
  }
  const auto n = static_cast<PetscInt>(impl_->n), k = static_cast<PetscInt>(right_hand_sides.cols());
  Eigen::MatrixXcd solution(n, k);
  if (k == 0) return solution;
  Eigen::MatrixXcd contiguous = right_hand_sides;
  OwnedMat b, x;
  check_petsc(MatCreateSeqDense(PETSC_COMM_SELF, n, k, contiguous.data(), b.out()), "MatCreateSeqDense");
  check_petsc(MatCreateSeqDense(PETSC_COMM_SELF, n, k, solution.data(), x.out()), "MatCreateSeqDense");
  check_petsc(MatMatSolve(impl_->factor, b, x), "MatMatSolve");
  return solution;
}

double Factorisation::factor_nonzeros() const { return impl_->nonzeros; }

struct SymmetricSolver::Impl {
  SparsityPattern pattern;
  OwnedMat matrix;
  OwnedIndexSet row_order, column_order;
};

SymmetricSolver::SymmetricSolver(SparsityPattern pattern) : impl_(std::make_unique<Impl>()) {
  impl_->pattern = std::move(pattern);
  const auto n = static_cast<PetscInt>(impl_->pattern.size());
  check_petsc(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n, n, impl_->pattern.row_start.data(), impl_->pattern.column.data(),
                                        nullptr, impl_->matrix.out()),
              "MatCreateSeqAIJWithArrays");
  check_petsc(MatGetOrdering(impl_->matrix, MATORDERINGND, impl_->row_order.out(), impl_->column_order.out()), "MatGetOrdering");
}

SymmetricSolver::~SymmetricSolver() = default;
const SparsityPattern& SymmetricSolver::pattern() const { return impl_->pattern; }

Factorisation SymmetricSolver::factorise(std::span<const Complex> values) const {
  auto result = std::make_unique<Factorisation::Impl>();
  const auto n = static_cast<PetscInt>(impl_->pattern.size());
  if (values.size() != impl_->pattern.column.size()) {
    throw core::ShapeError("linalg::SymmetricSolver", "expected {} values, got {}", impl_->pattern.column.size(), values.size());
  }
  OwnedMat matrix;
  check_petsc(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n, n, impl_->pattern.row_start.data(), impl_->pattern.column.data(),
                                        const_cast<Complex*>(values.data()), matrix.out()),
              "MatCreateSeqAIJWithArrays");
  MatFactorInfo info;
  check_petsc(MatFactorInfoInitialize(&info), "MatFactorInfoInitialize");
  info.fill = 12.0;
  check_petsc(MatGetFactor(matrix, MATSOLVERPETSC, MAT_FACTOR_LU, result->factor.out()), "MatGetFactor");
  check_petsc(MatLUFactorSymbolic(result->factor, matrix, impl_->row_order, impl_->column_order, &info), "MatLUFactorSymbolic");
  check_petsc(MatLUFactorNumeric(result->factor, matrix, &info), "MatLUFactorNumeric");
  MatFactorError failure = MAT_FACTOR_NOERROR;
  check_petsc(MatFactorGetError(result->factor, &failure), "MatFactorGetError");
  if (failure != MAT_FACTOR_NOERROR) {
    throw core::SolverError("linalg", "the factorisation of a {} × {} matrix failed (PETSc factor error {}); are all resistivities finite and positive?", n,
                            n, static_cast<int>(failure));
  }
  MatInfo counts;
  check_petsc(MatGetInfo(result->factor, MAT_LOCAL, &counts), "MatGetInfo");
  result->nonzeros = counts.nz_used;
  result->n = n;
  return Factorisation(std::move(result));
}

}  // namespace lodestone::physics::linalg
