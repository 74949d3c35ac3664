// SPDX-License-Identifier: Apache-2.0
// Unknowns: e of the inner edges along x and y, φ of the inner nodes, and e of the lowest vertical edges. The
// other vertical edges follow from φ: as many unknowns as edges, and curl and gradient parts stay apart.
#include "engine/core/timer.hpp"
#include "physics/fem/edge_operator.hpp"
#include "physics/linalg/edge_solver.hpp"
#include "physics/linalg/petsc_objects.hpp"

namespace lodestone::physics::linalg {

namespace {

fem::PairUnknowns unknowns_of(const fem::EdgeGrid& grid) {
  fem::PairUnknowns result{Eigen::VectorXi::Constant(grid.n_edges(), -1),
                           Eigen::VectorXi::Constant(grid.n_nodes(), -1)};
  fem::for_each_edge(grid, [&](int axis, int i, int j, int k) {
    if (grid.is_inner_edge(axis, i, j, k) && (axis != 2 || k == grid.n(2) - 1))
      result.edges[grid.edge(axis, i, j, k)] = result.count++;
  });
  fem::for_each_node(grid, [&](int i, int j, int k) {
    if (grid.is_inner_node(i, j, k)) result.nodes[grid.node(i, j, k)] = result.count++;
  });
  return result;
}

OwnedMat factorized(const fem::ComplexRows& matrix) {
  const auto n = static_cast<PetscInt>(matrix.rows());
  OwnedMat wrapped, factor;
  // PETSc asks for non-const arrays but does not write to them.
  check_petsc(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n, n, const_cast<int*>(matrix.outerIndexPtr()),
                                        const_cast<int*>(matrix.innerIndexPtr()),
                                        const_cast<std::complex<double>*>(matrix.valuePtr()), wrapped.out()),
              "MatCreateSeqAIJWithArrays");
  check_petsc(MatSetOption(wrapped, MAT_SYMMETRIC, PETSC_TRUE), "MatSetOption");
  MatFactorInfo info;
  check_petsc(MatFactorInfoInitialize(&info), "MatFactorInfoInitialize");
  check_petsc(MatGetFactor(wrapped, MATSOLVERMUMPS, MAT_FACTOR_CHOLESKY, factor.out()),
              "MatGetFactor (MUMPS)");
  check_petsc(MatMumpsSetIcntl(factor, 7, 5), "MatMumpsSetIcntl");    // nested dissection by METIS
  check_petsc(MatMumpsSetIcntl(factor, 14, 30), "MatMumpsSetIcntl");  // per cent of room for pivots
  check_petsc(MatCholeskyFactorSymbolic(factor, wrapped, nullptr, &info), "MatCholeskyFactorSymbolic");
  check_petsc(MatCholeskyFactorNumeric(factor, wrapped, &info), "MatCholeskyFactorNumeric");
  PetscInt state = 0, detail = 0;
  check_petsc(MatMumpsGetInfog(factor, 1, &state), "MatMumpsGetInfog");
  check_petsc(MatMumpsGetInfog(factor, 2, &detail), "MatMumpsGetInfog");
  if (state < 0)
    throw core::SolverError("linalg::make_direct_edge_solver#factorization_failed",
                            "MUMPS ended with INFOG(1) = {}, INFOG(2) = {} on {} unknowns; −9 and −13 mean "
                            "too little memory: choose the multigrid solver",
                            state, detail, n);
  return factor;
}

class DirectEdgeSolver final : public EdgeSolver {
 public:
  explicit DirectEdgeSolver(EdgeSystem given)
      : EdgeSolver(std::move(given)), unknowns_(unknowns_of(*system().grid)) {
    const core::ScopedTimer timer("edge solver/factorize");
    const fem::ComplexRows matrix = matrix_of(system(), unknowns_);
    const PetscLock lock(petsc_mutex());
    require_petsc("linalg::make_direct_edge_solver#petsc_not_running");
    factor_.emplace(factorized(matrix));
    PetscInt megabytes = 0;
    check_petsc(MatMumpsGetInfog(*factor_, 22, &megabytes), "MatMumpsGetInfog");
    bytes_ = static_cast<std::size_t>(megabytes) << 20U;
  }
  [[nodiscard]] std::string name() const override { return "direct"; }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }

 private:
  void do_solve(PairBlock& x, const PairBlock& b, const EdgeSolveOptions&,
                std::vector<EdgeSolveReport>&) const override {
    const core::ScopedTimer timer("edge solver/substitute");
    const Eigen::Index k = b.edges.cols();
    Eigen::MatrixXcd given = Eigen::MatrixXcd::Zero(unknowns_.count, k), solution(unknowns_.count, k);
    for_each_unknown(
        [&](Eigen::Index unknown, Eigen::Index edge) { given.row(unknown) = b.edges.row(edge); },
        [&](Eigen::Index unknown, Eigen::Index node) { given.row(unknown) = b.nodes.row(node); });
    {
      const PetscLock lock(petsc_mutex());
      OwnedMat right, left;
      const auto n = static_cast<PetscInt>(unknowns_.count), columns = static_cast<PetscInt>(k);
      check_petsc(MatCreateSeqDense(PETSC_COMM_SELF, n, columns, given.data(), right.out()),
                  "MatCreateSeqDense");
      check_petsc(MatCreateSeqDense(PETSC_COMM_SELF, n, columns, solution.data(), left.out()),
                  "MatCreateSeqDense");
      check_petsc(MatMatSolve(*factor_, right, left), "MatMatSolve");
    }
    for_each_unknown(
        [&](Eigen::Index unknown, Eigen::Index edge) { x.edges.row(edge) = solution.row(unknown); },
        [&](Eigen::Index unknown, Eigen::Index node) { x.nodes.row(node) = solution.row(unknown); });
  }
  template <class OfEdge, class OfNode>
  void for_each_unknown(OfEdge of_edge, OfNode of_node) const {
    for (Eigen::Index edge = 0; edge < unknowns_.edges.size(); ++edge) {
      if (unknowns_.edges[edge] >= 0) of_edge(unknowns_.edges[edge], edge);
    }
    for (Eigen::Index node = 0; node < unknowns_.nodes.size(); ++node) {
      if (unknowns_.nodes[node] >= 0) of_node(unknowns_.nodes[node], node);
    }
  }

  fem::PairUnknowns unknowns_;
  std::optional<OwnedMat> factor_;
  std::size_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<EdgeSolver> make_direct_edge_solver(EdgeSystem system) {
  return std::make_unique<DirectEdgeSolver>(std::move(system));
}

}  // namespace lodestone::physics::linalg
