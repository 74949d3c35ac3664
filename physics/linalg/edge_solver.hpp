// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"
#include "physics/fem/relief_operator.hpp"

#include <Eigen/Core>

#include <memory>
#include <string>
#include <vector>

namespace lodestone::physics::linalg {

/// The problem (K + i M) u = b on the inner edges of a grid: one operator of one frequency and model.
struct EdgeSystem {
  std::shared_ptr<const fem::EdgeGrid> grid;
  Eigen::VectorXd mass;       ///< ωμ₀ times the mass of each edge, 1/m; shape (n_edges)
  Eigen::VectorXd cell_mass;  ///< ωμ₀σ of each cell, 1/m²; its volume means make coarser operators
  int ground = -1;            ///< line along z that coarser grids keep; −1: none
  /// The operator of a relief, whose lines are those of `grid`; null on flat grids. With it `mass` is the
  /// diagonal of `relief_mass`, ωμ₀M.
  std::shared_ptr<const fem::ReliefOperator> relief{};
  fem::RealRows relief_mass{};
};
/// Makes the system of a relief from ωμ₀σ of each cell. shapes: (n_cells).
[[nodiscard]] EdgeSystem relief_system(std::shared_ptr<const fem::ReliefOperator> relief,
                                       Eigen::VectorXd cell_mass, int ground = -1);
/// Returns K u, or M u, on every edge, boundary included. shapes: (n_edges) → (n_edges).
[[nodiscard]] Eigen::VectorXcd curl_curl(const EdgeSystem& system, const Eigen::VectorXcd& circulation);
[[nodiscard]] Eigen::VectorXcd mass_times(const EdgeSystem& system, const Eigen::VectorXcd& circulation);
/// Returns K + iM on some unknowns of edges and of nodes.
[[nodiscard]] fem::ComplexRows matrix_of(const EdgeSystem& system, const fem::PairUnknowns& unknowns);
/// Returns the bytes of the matrices that a relief has; 0 on flat grids.
[[nodiscard]] std::size_t bytes_on_relief(const EdgeSystem& system);

/// Vectors of the problem in pair form, one per column. A solution is e on edges and φ on nodes, u = e + Gφ.
/// A right-hand side is b on edges and its divergence ρ = Gᵀb on nodes, each rounded by itself. Everything
/// on the boundary is zero.
///
/// Where ωμ₀σh² is tiny, curl and gradient parts of u differ by many digits; as a pair neither is lost in the
/// rounding of the other.
struct PairBlock {
  Eigen::MatrixXcd edges, nodes;
  PairBlock() = default;
  PairBlock(const fem::EdgeGrid& grid, Eigen::Index n_columns)
      : edges(Eigen::MatrixXcd::Zero(grid.n_edges(), n_columns)),
        nodes(Eigen::MatrixXcd::Zero(grid.n_nodes(), n_columns)) {}
};

/// The size of what a solution leaves of a right-hand side.
struct ResidualSize {
  double edges = 0.0;       ///< ‖b − A u‖ over ‖b‖
  double divergence = 0.0;  ///< norm of its divergence over that of the terms, ‖ |Gᵀ| M |u| ‖
};
/// Computes the residual of a column as a pair. A right-hand side of zero counts as solved by anything.
[[nodiscard]] ResidualSize residual_size(const EdgeSystem& system, const PairBlock& x, const PairBlock& b,
                                         Eigen::Index column);
/// Returns u = e + Gφ of a column.
[[nodiscard]] Eigen::VectorXcd circulation(const fem::EdgeGrid& grid, const PairBlock& pair,
                                           Eigen::Index column);

/// The precision in which the cycle of a multigrid runs.
enum class CycleReal {
  automatic,  ///< single where cells are at most 500 times as wide as high, else double
  single,
  twice,
};
constexpr auto words(CycleReal) {
  using enum CycleReal;
  return core::Words<CycleReal>{{automatic, "auto"}, {single, "single"}, {twice, "double"}};
}

struct EdgeSolveOptions {
  double tolerance = 1e-8;             ///< bound of ‖r‖ over ‖b‖ on edges
  double divergence_tolerance = 1e-8;  ///< bound of ‖ρ‖ over the norm of its own terms, ‖ |Gᵀ| M |u| ‖
  int max_iterations = 200;            ///< limit of each method of the chain of fallbacks
  CycleReal real = CycleReal::automatic;
};

/// The end that a solve came to; `inaccurate`: its own residual was small, the true one is not.
enum class Ending { converged, stagnated, broke_down, inaccurate };
constexpr auto words(Ending) {
  using enum Ending;
  return core::Words<Ending>{{converged, "converged"},
                             {stagnated, "stagnated"},
                             {broke_down, "broke_down"},
                             {inaccurate, "inaccurate"}};
}
constexpr double largest_drift = 10.0;  ///< most that a true residual may be, over the tolerance

struct EdgeSolveReport {
  int iterations = 0;          ///< sum over all methods
  double true_residual = 0.0;  ///< ‖b − A u‖/‖b‖, computed anew from the solution
  double divergence = 0.0;     ///< its divergence over the size of its terms
  Ending ending = Ending::converged;
  std::string fallback{};  ///< methods that were tried after the first, in their order
};

/// A solver of one system; immutable. Several threads may solve at the same time.
class EdgeSolver {
 public:
  virtual ~EdgeSolver() = default;
  EdgeSolver(const EdgeSolver&) = delete;
  EdgeSolver& operator=(const EdgeSolver&) = delete;

  /// Solves for each column of b from zero. shapes: b of the grid, x becomes like it. errors: ShapeError;
  /// SolverError when a column does not converge by any method, when its true residual is ten times the
  /// tolerance, or b is not finite. The result has the same bits for any number of threads.
  std::vector<EdgeSolveReport> solve(PairBlock& x, const PairBlock& b,
                                     const EdgeSolveOptions& options = {}) const;
  [[nodiscard]] const EdgeSystem& system() const { return system_; }
  /// Returns a short name for reports.
  [[nodiscard]] virtual std::string name() const = 0;
  /// Returns the bytes held, without those of a running solve.
  [[nodiscard]] virtual std::size_t bytes() const = 0;

 protected:
  explicit EdgeSolver(EdgeSystem system);

 private:
  /// Solves for all columns, x being zero, and reports how; true residuals are not its task.
  virtual void do_solve(PairBlock& x, const PairBlock& b, const EdgeSolveOptions& options,
                        std::vector<EdgeSolveReport>& reports) const = 0;
  EdgeSystem system_;
};

/// Makes a solver by multigrid-preconditioned conjugate gradients for complex-symmetric matrices; memory
/// about 250 bytes an edge. errors: InvalidArgument when an axis has fewer than two cells or a mass is not
/// finite and positive.
[[nodiscard]] std::unique_ptr<EdgeSolver> make_multigrid_edge_solver(EdgeSystem system);
/// Makes a solver by flexible GMRES around algebraic multigrid on auxiliary spaces (hypre's AMS), which the
/// multigrid solver falls back to: a check that shares no code with the cycle, and much slower. errors: as
/// above, and SolverError where hypre cannot set it up.
[[nodiscard]] std::unique_ptr<EdgeSolver> make_algebraic_edge_solver(EdgeSystem system);
/// Makes a solver by one factorization L D Lᵀ (MUMPS through PETSc): for small grids with many right-hand
/// sides, and as the reference of others. errors: SolverError where PETSc is not running or memory lacks.
[[nodiscard]] std::unique_ptr<EdgeSolver> make_direct_edge_solver(EdgeSystem system);

/// The solvers that can be chosen.
enum class EdgeSolverKind { automatic, direct, multigrid, ams };
constexpr auto words(EdgeSolverKind) {
  using enum EdgeSolverKind;
  return core::Words<EdgeSolverKind>{
      {automatic, "auto"}, {direct, "direct"}, {multigrid, "multigrid"}, {ams, "ams"}};
}
/// The estimated need of a solver.
struct EdgeSolverCost {
  double seconds = 0.0;  ///< on one core, set-up and right-hand sides
  double bytes = 0.0;
};
/// `has_relief`: columns follow a surface, and matrices are stored by rows.
[[nodiscard]] EdgeSolverCost cost_of(EdgeSolverKind kind, const fem::EdgeGrid& grid,
                                     Eigen::Index n_right_hand_sides, bool has_relief);
/// Returns whether a solver takes less than half of a machine's memory; true where that is unknown, 0.
[[nodiscard]] bool fits_machine(const EdgeSolverCost& cost, double machine_bytes);
/// Returns the solver of least estimated time whose memory fits; multigrid where none does.
[[nodiscard]] EdgeSolverKind choose_edge_solver(const fem::EdgeGrid& grid, Eigen::Index n_right_hand_sides,
                                                bool has_relief, double memory_bytes);
/// Makes the solver of a kind; `automatic` is `multigrid` here. errors: those of the solver.
[[nodiscard]] std::unique_ptr<EdgeSolver> make_edge_solver(EdgeSolverKind kind, EdgeSystem system);

}  // namespace lodestone::physics::linalg
