// SPDX-License-Identifier: Apache-2.0
#include "physics/linalg/petsc_objects.hpp"
#include "physics/linalg/symmetric_solver.hpp"

#include <utility>

namespace lodestone::physics::linalg {

namespace {

using OwnedIndexSet = Owned<IS, ISDestroy>;

double entries_of(Mat factor) {
  MatInfo info;
  check_petsc(MatGetInfo(factor, MAT_LOCAL, &info), "MatGetInfo");
  return info.nz_used;
}

class PetscFactorization final : public Factorization {
 public:
  // A planar mesh in nested-dissection order: flops per factor entry grow like its mean row length.
  PetscFactorization(OwnedMat factor, int n, double entries)
      : Factorization(n, entries, 4.0 * entries * entries / n), factor_(std::move(factor)) {}

 private:
  Eigen::MatrixXcd do_solve(const Eigen::Ref<const Eigen::MatrixXcd>& right_hand_sides) const override {
    const auto n = static_cast<PetscInt>(right_hand_sides.rows()),
               k = static_cast<PetscInt>(right_hand_sides.cols());
    Eigen::MatrixXcd given = right_hand_sides, solution(n, k);
    const PetscLock lock(petsc_mutex());
    OwnedMat b, x;
    check_petsc(MatCreateSeqDense(PETSC_COMM_SELF, n, k, given.data(), b.out()), "MatCreateSeqDense");
    check_petsc(MatCreateSeqDense(PETSC_COMM_SELF, n, k, solution.data(), x.out()), "MatCreateSeqDense");
    check_petsc(MatMatSolve(factor_, b, x), "MatMatSolve");
    return solution;
  }
  OwnedMat factor_;
};

OwnedMat wrapped(const SparsityPattern& pattern, std::span<const Complex> values) {
  // PETSc asks for non-const arrays but does not write to them.
  OwnedMat matrix;
  const auto n = static_cast<PetscInt>(pattern.size());
  check_petsc(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n, n, const_cast<int*>(pattern.row_start.data()),
                                        const_cast<int*>(pattern.column.data()),
                                        const_cast<Complex*>(values.data()), matrix.out()),
              "MatCreateSeqAIJWithArrays");
  return matrix;
}

class PetscSolver final : public SymmetricSolver {
 public:
  explicit PetscSolver(SparsityPattern given) : SymmetricSolver(std::move(given)) {
    const std::vector<Complex> ones(pattern().column.size(), 1.0);
    const PetscLock lock(petsc_mutex());
    require_petsc("linalg::make_petsc_solver#petsc_not_running");
    const OwnedMat matrix = wrapped(pattern(), ones);
    check_petsc(MatGetOrdering(matrix, MATORDERINGND, row_order_.out(), column_order_.out()),
                "MatGetOrdering");
  }

 private:
  std::unique_ptr<Factorization> do_factorize(std::span<const Complex> values) const override {
    const PetscLock lock(petsc_mutex());
    const OwnedMat matrix = wrapped(pattern(), values);
    OwnedMat factor;
    MatFactorInfo info;
    check_petsc(MatFactorInfoInitialize(&info), "MatFactorInfoInitialize");
    info.fill = 12.0;
    check_petsc(MatGetFactor(matrix, MATSOLVERPETSC, MAT_FACTOR_LU, factor.out()), "MatGetFactor");
    check_petsc(MatLUFactorSymbolic(factor, matrix, row_order_, column_order_, &info), "MatLUFactorSymbolic");
    check_petsc(MatLUFactorNumeric(factor, matrix, &info), "MatLUFactorNumeric");
    MatFactorError failure = MAT_FACTOR_NOERROR;
    check_petsc(MatFactorGetError(factor, &failure), "MatFactorGetError");
    if (failure != MAT_FACTOR_NOERROR) {
      throw core::SolverError("linalg#factorization_failed",
                              "the factorization of a matrix with {} rows failed (PETSc factor error {}); "
                              "check that all resistivities are finite and positive",
                              pattern().size(), static_cast<int>(failure));
    }
    const double entries = entries_of(factor);
    return std::make_unique<PetscFactorization>(std::move(factor), pattern().size(), entries);
  }
  OwnedIndexSet row_order_, column_order_;
};

}  // namespace

std::unique_ptr<SymmetricSolver> make_petsc_solver(SparsityPattern pattern) {
  return std::make_unique<PetscSolver>(std::move(pattern));
}

}  // namespace lodestone::physics::linalg
