// SPDX-License-Identifier: Apache-2.0
// hypre keeps its state in variables of the process, so that its calls wait for each other.
#include "physics/linalg/multigrid/auxiliary_space.hpp"

#include "engine/core/error.hpp"
#include "physics/fem/edge_operator.hpp"

#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_parcsr_ls.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <complex>
#include <mutex>
#include <numeric>
#include <vector>

namespace lodestone::physics::linalg::multigrid {

namespace {

using RealRows = fem::RealRows;
constexpr std::complex<double> imaginary_unit(0.0, 1.0);

std::mutex& hypre_mutex() {
  static std::mutex mutex;
  return mutex;
}

void require_hypre() {
  int is_up = 0;
  MPI_Initialized(&is_up);
  const auto started = [] {
    static const HYPRE_Int state = HYPRE_Init();
    return state == 0;
  };
  if (is_up == 0 || !started())
    throw core::SolverError("linalg::make_auxiliary_space#hypre_not_running",
                            "hypre did not start; it needs MPI, which core::Session brings");
}

/// Forgets that a single cycle is no converged solve, and refuses every other error.
void check_hypre(const char* what) {
  const HYPRE_Int code = HYPRE_GetError();
  HYPRE_ClearAllErrors();
  if ((code & ~HYPRE_ERROR_CONV) != 0)
    throw core::SolverError(
        "linalg::make_auxiliary_space#hypre_failed",
        "hypre ended {} with code {}; too little memory, or a matrix with numbers that are not finite", what,
        code);
}

/// A matrix of hypre, with a copy of the entries.
class Matrix {
 public:
  explicit Matrix(const RealRows& rows) {
    const auto n = static_cast<HYPRE_BigInt>(rows.rows()), m = static_cast<HYPRE_BigInt>(rows.cols());
    HYPRE_IJMatrixCreate(MPI_COMM_SELF, 0, n - 1, 0, m - 1, &matrix_);
    HYPRE_IJMatrixSetObjectType(matrix_, HYPRE_PARCSR);
    HYPRE_IJMatrixInitialize(matrix_);
    std::vector<HYPRE_BigInt> number(static_cast<std::size_t>(n));
    std::iota(number.begin(), number.end(), HYPRE_BigInt{0});
    std::vector<HYPRE_Int> n_columns(number.size());
    for (std::size_t i = 0; i < n_columns.size(); ++i)
      n_columns[i] = rows.outerIndexPtr()[i + 1] - rows.outerIndexPtr()[i];
    // hypre does not write to them
    HYPRE_IJMatrixSetValues(matrix_, n, n_columns.data(), number.data(), rows.innerIndexPtr(),
                            rows.valuePtr());
    HYPRE_IJMatrixAssemble(matrix_);
    void* object = nullptr;
    HYPRE_IJMatrixGetObject(matrix_, &object);
    object_ = static_cast<HYPRE_ParCSRMatrix>(object);
    check_hypre("a matrix");
  }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  ~Matrix() { HYPRE_IJMatrixDestroy(matrix_); }
  operator HYPRE_ParCSRMatrix() const { return object_; }

 private:
  HYPRE_IJMatrix matrix_ = nullptr;
  HYPRE_ParCSRMatrix object_ = nullptr;
};

/// A vector of hypre.
class Vector {
 public:
  explicit Vector(Eigen::Index n) : number_(static_cast<std::size_t>(n)) {
    std::iota(number_.begin(), number_.end(), HYPRE_BigInt{0});
    HYPRE_IJVectorCreate(MPI_COMM_SELF, 0, static_cast<HYPRE_BigInt>(n) - 1, &vector_);
    HYPRE_IJVectorSetObjectType(vector_, HYPRE_PARCSR);
    HYPRE_IJVectorInitialize(vector_);
    HYPRE_IJVectorAssemble(vector_);
    void* object = nullptr;
    HYPRE_IJVectorGetObject(vector_, &object);
    object_ = static_cast<HYPRE_ParVector>(object);
  }
  Vector(const Vector&) = delete;
  Vector& operator=(const Vector&) = delete;
  ~Vector() { HYPRE_IJVectorDestroy(vector_); }
  void set(const Eigen::VectorXd& values) {
    HYPRE_IJVectorSetValues(vector_, static_cast<HYPRE_Int>(number_.size()), number_.data(), values.data());
  }
  [[nodiscard]] Eigen::VectorXd get() const {
    Eigen::VectorXd values(static_cast<Eigen::Index>(number_.size()));
    HYPRE_IJVectorGetValues(vector_, static_cast<HYPRE_Int>(number_.size()), number_.data(), values.data());
    return values;
  }
  operator HYPRE_ParVector() const { return object_; }

 private:
  std::vector<HYPRE_BigInt> number_;
  HYPRE_IJVector vector_ = nullptr;
  HYPRE_ParVector object_ = nullptr;
};

/// One V-cycle of BoomerAMG for a symmetric, positive definite matrix.
class NodeCycle {
 public:
  explicit NodeCycle(const RealRows& rows) : matrix_(rows), right_(rows.rows()), left_(rows.rows()) {
    HYPRE_BoomerAMGCreate(&solver_);
    HYPRE_BoomerAMGSetMaxIter(solver_, 1);
    HYPRE_BoomerAMGSetTol(solver_, 0.0);
    HYPRE_BoomerAMGSetCoarsenType(solver_, 10);  // HMIS
    HYPRE_BoomerAMGSetInterpType(solver_, 6);    // extended+i
    HYPRE_BoomerAMGSetPMaxElmts(solver_, 4);
    HYPRE_BoomerAMGSetRelaxType(solver_, 8);  // symmetric l1-Gauss–Seidel
    HYPRE_BoomerAMGSetPrintLevel(solver_, 0);
    HYPRE_BoomerAMGSetup(solver_, matrix_, right_, left_);
    check_hypre("BoomerAMG");
  }
  NodeCycle(const NodeCycle&) = delete;
  NodeCycle& operator=(const NodeCycle&) = delete;
  ~NodeCycle() { HYPRE_BoomerAMGDestroy(solver_); }
  Eigen::VectorXd operator()(const Eigen::VectorXd& right) {
    right_.set(right);
    left_.set(Eigen::VectorXd::Zero(right.size()));
    HYPRE_BoomerAMGSolve(solver_, matrix_, right_, left_);
    check_hypre("a cycle of BoomerAMG");
    return left_.get();
  }

 private:
  Matrix matrix_;
  Vector right_, left_;
  HYPRE_Solver solver_ = nullptr;
};

/// One cycle of AMS for K + M.
class EdgeCycle {
 public:
  EdgeCycle(const RealRows& rows, const RealRows& gradient, const std::array<Eigen::VectorXd, 3>& places)
      : matrix_(rows),
        gradient_(gradient),
        right_(rows.rows()),
        left_(rows.rows()),
        x_(gradient.cols()),
        y_(gradient.cols()),
        z_(gradient.cols()) {
    x_.set(places[0]);
    y_.set(places[1]);
    z_.set(places[2]);
    HYPRE_AMSCreate(&solver_);
    HYPRE_AMSSetDimension(solver_, 3);
    HYPRE_AMSSetMaxIter(solver_, 1);
    HYPRE_AMSSetTol(solver_, 0.0);
    constexpr int l1_gauss_seidel = 2, n_sweeps = 3;
    HYPRE_AMSSetSmoothingOptions(solver_, l1_gauss_seidel, n_sweeps, 1.0, 1.0);
    HYPRE_AMSSetCycleType(solver_, 5);
    HYPRE_AMSSetPrintLevel(solver_, 0);
    HYPRE_AMSSetDiscreteGradient(solver_, gradient_);
    HYPRE_AMSSetCoordinateVectors(solver_, x_, y_, z_);
    HYPRE_AMSSetup(solver_, matrix_, right_, left_);
    check_hypre("AMS");
  }
  EdgeCycle(const EdgeCycle&) = delete;
  EdgeCycle& operator=(const EdgeCycle&) = delete;
  ~EdgeCycle() { HYPRE_AMSDestroy(solver_); }
  Eigen::VectorXd operator()(const Eigen::VectorXd& right) {
    right_.set(right);
    left_.set(Eigen::VectorXd::Zero(right.size()));
    HYPRE_AMSSolve(solver_, matrix_, right_, left_);
    check_hypre("a cycle of AMS");
    return left_.get();
  }

 private:
  Matrix matrix_, gradient_;
  Vector right_, left_, x_, y_, z_;
  HYPRE_Solver solver_ = nullptr;
};

/// Applies a real cycle to real and imaginary parts.
template <class RealCycle>
Eigen::VectorXcd apart(RealCycle& cycle, const Eigen::VectorXcd& right) {
  Eigen::VectorXcd out(right.size());
  out.real() = cycle(right.real());
  out.imag() = cycle(right.imag());
  return out;
}

/// The inner edges, or the inner nodes, as unknowns: none of the others.
fem::PairUnknowns inner(const fem::EdgeGrid& grid, bool edges) {
  fem::PairUnknowns out{Eigen::VectorXi::Constant(grid.n_edges(), -1),
                        Eigen::VectorXi::Constant(grid.n_nodes(), -1)};
  if (edges)
    fem::for_each_edge(grid, [&](int axis, int i, int j, int k) {
      if (grid.is_inner_edge(axis, i, j, k)) out.edges[grid.edge(axis, i, j, k)] = out.count++;
    });
  else
    fem::for_each_node(grid, [&](int i, int j, int k) {
      if (grid.is_inner_node(i, j, k)) out.nodes[grid.node(i, j, k)] = out.count++;
    });
  return out;
}

RealRows gradient_of(const fem::EdgeGrid& grid, const fem::PairUnknowns& edges,
                     const fem::PairUnknowns& nodes) {
  std::vector<Eigen::Triplet<double>> entries;
  fem::for_each_edge(grid, [&](int axis, int i, int j, int k) {
    const int edge = edges.edges[grid.edge(axis, i, j, k)];
    if (edge < 0) return;
    const int from = nodes.nodes[grid.node(i, j, k)],
              to = nodes.nodes[grid.node(i + (axis == 0), j + (axis == 1), k + (axis == 2))];
    if (from >= 0) entries.emplace_back(edge, from, -1.0);
    if (to >= 0) entries.emplace_back(edge, to, 1.0);
  });
  RealRows out(edges.count, nodes.count);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

std::array<Eigen::VectorXd, 3> places_of(const EdgeSystem& system, const fem::PairUnknowns& nodes) {
  const fem::EdgeGrid& grid = *system.grid;
  std::array<Eigen::VectorXd, 3> out;
  for (Eigen::VectorXd& each : out) each.resize(nodes.count);
  fem::for_each_node(grid, [&](int i, int j, int k) {
    const int node = nodes.nodes[grid.node(i, j, k)];
    if (node < 0) return;
    out[0][node] = grid.lines_m(0)[i];
    out[1][node] = grid.lines_m(1)[j];
    out[2][node] = system.relief != nullptr ? system.relief->grid().z_m(i, j, k) : grid.lines_m(2)[k];
  });
  return out;
}

/// Returns K + M with a least mass. AMS corrects gradients by GᵀMG: the rounding of a residual over the mass
/// of air would be larger than the field. Where the mass is raised the cycle of the nodes corrects them.
RealRows matrix_of_edges(const fem::ComplexRows& matrix) {
  constexpr double least_mass = 1e-6;  // of the diagonal of K
  RealRows out = RealRows(matrix.real()) + RealRows(matrix.imag());
  const Eigen::VectorXcd diagonal = matrix.diagonal();
  for (Eigen::Index i = 0; i < diagonal.size(); ++i)
    out.coeffRef(i, i) += std::max(0.0, least_mass * diagonal[i].real() - diagonal[i].imag());
  return out;
}

class AuxiliarySpace final : public Cycle {
 public:
  explicit AuxiliarySpace(const EdgeSystem& system)
      : system_(system), edges_(inner(*system.grid, true)), nodes_(inner(*system.grid, false)) {
    const std::lock_guard lock(hypre_mutex());
    require_hypre();
    const fem::ComplexRows of_edges = matrix_of(system, edges_), of_nodes = matrix_of(system, nodes_);
    entries_ = static_cast<std::size_t>(of_edges.nonZeros() + of_nodes.nonZeros());
    edge_cycle_ = std::make_unique<EdgeCycle>(
        matrix_of_edges(of_edges), gradient_of(*system.grid, edges_, nodes_), places_of(system, nodes_));
    node_cycle_ = std::make_unique<NodeCycle>(of_nodes.imag());
  }
  ~AuxiliarySpace() override {
    const std::lock_guard lock(hypre_mutex());
    edge_cycle_.reset();
    node_cycle_.reset();
  }
  [[nodiscard]] std::unique_ptr<Work> make_work() const override { return std::make_unique<Work>(); }
  /// Three corrections: φ, then e, then φ again.
  void apply(const Field<double>& r, Field<double>& z, Work& /*work*/) const override {
    const fem::EdgeGrid& grid = *system_.grid;
    PairBlock given(grid, 1), out(grid, 1);
    write_pair(grid, r, 0, given);
    const std::lock_guard lock(hypre_mutex());
    Eigen::VectorXcd phi = correction_of_nodes(given.nodes.col(0));
    const Eigen::VectorXcd left =
        given.edges.col(0) - imaginary_unit * mass_times(system_, fem::gradient(grid, phi));
    out.edges.col(0) = spread(apart(*edge_cycle_, taken(left, edges_.edges, edges_.count)), edges_.edges);
    const Eigen::VectorXcd u = out.edges.col(0) + fem::gradient(grid, phi);
    phi += correction_of_nodes(given.nodes.col(0) -
                               imaginary_unit * fem::gradient_transposed(grid, mass_times(system_, u)));
    out.nodes.col(0) = phi;
    read_pair(grid, out, 0, z);
  }
  /// Grids of AMS and BoomerAMG together hold about three times the entries of the finest.
  [[nodiscard]] std::size_t bytes() const override {
    return 3 * entries_ * (sizeof(double) + sizeof(HYPRE_Int));
  }
  [[nodiscard]] int n_levels() const override { return 1; }

 private:
  /// Returns φ ≈ (i GᵀMG)⁻¹ ρ.
  [[nodiscard]] Eigen::VectorXcd correction_of_nodes(const Eigen::VectorXcd& rho) const {
    return -imaginary_unit *
           spread(apart(*node_cycle_, taken(rho, nodes_.nodes, nodes_.count)), nodes_.nodes);
  }
  static Eigen::VectorXcd taken(const Eigen::VectorXcd& all, const Eigen::VectorXi& unknown, int count) {
    Eigen::VectorXcd out(count);
    for (Eigen::Index i = 0; i < unknown.size(); ++i) {
      if (unknown[i] >= 0) out[unknown[i]] = all[i];
    }
    return out;
  }
  static Eigen::VectorXcd spread(const Eigen::VectorXcd& some, const Eigen::VectorXi& unknown) {
    Eigen::VectorXcd out = Eigen::VectorXcd::Zero(unknown.size());
    for (Eigen::Index i = 0; i < unknown.size(); ++i) {
      if (unknown[i] >= 0) out[i] = some[unknown[i]];
    }
    return out;
  }

  const EdgeSystem& system_;
  fem::PairUnknowns edges_, nodes_;
  std::size_t entries_ = 0;
  std::unique_ptr<EdgeCycle> edge_cycle_;
  std::unique_ptr<NodeCycle> node_cycle_;
};

}  // namespace

std::unique_ptr<Cycle> make_auxiliary_space(const EdgeSystem& system) {
  return std::make_unique<AuxiliarySpace>(system);
}

}  // namespace lodestone::physics::linalg::multigrid
