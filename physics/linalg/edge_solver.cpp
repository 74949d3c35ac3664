// SPDX-License-Identifier: Apache-2.0
#include "physics/linalg/edge_solver.hpp"

#include "engine/core/error.hpp"
#include "physics/fem/edge_operator.hpp"

#include <cmath>

namespace lodestone::physics::linalg {

EdgeSystem relief_system(std::shared_ptr<const fem::ReliefOperator> relief, Eigen::VectorXd cell_mass,
                         int ground) {
  EdgeSystem result;
  result.grid = {relief, &relief->grid().lines()};
  result.relief_mass = relief->mass_matrix(cell_mass);
  result.mass = result.relief_mass.diagonal();
  result.cell_mass = std::move(cell_mass);
  result.ground = ground;
  result.relief = std::move(relief);
  return result;
}

Eigen::VectorXcd curl_curl(const EdgeSystem& system, const Eigen::VectorXcd& circulation) {
  return system.relief != nullptr ? system.relief->curl_curl(circulation)
                                  : fem::curl_curl(*system.grid, circulation);
}

Eigen::VectorXcd mass_times(const EdgeSystem& system, const Eigen::VectorXcd& circulation) {
  if (system.relief != nullptr) return fem::product(system.relief_mass, circulation);
  return system.mass.asDiagonal() * circulation;
}

fem::ComplexRows matrix_of(const EdgeSystem& system, const fem::PairUnknowns& unknowns) {
  return system.relief == nullptr
             ? fem::pair_matrix(*system.grid, system.mass, unknowns)
             : fem::pair_matrix(*system.grid, system.relief->faces(), system.relief_mass, unknowns);
}

std::size_t bytes_on_relief(const EdgeSystem& system) {
  if (system.relief == nullptr) return 0;
  const auto n = system.relief->faces().nonZeros() + system.relief_mass.nonZeros();
  return static_cast<std::size_t>(n) * (sizeof(double) + sizeof(int));
}

Eigen::VectorXcd circulation(const fem::EdgeGrid& grid, const PairBlock& pair, Eigen::Index column) {
  return pair.edges.col(column) + fem::gradient(grid, pair.nodes.col(column));
}

ResidualSize residual_size(const EdgeSystem& system, const PairBlock& x, const PairBlock& b,
                           Eigen::Index column) {
  const fem::EdgeGrid& grid = *system.grid;
  const std::complex<double> i(0.0, 1.0);
  const double b_norm = b.edges.col(column).norm();
  if (b_norm == 0.0) return {};
  const Eigen::VectorXcd current = mass_times(system, circulation(grid, x, column));
  Eigen::VectorXcd r = b.edges.col(column) - curl_curl(system, x.edges.col(column)) - i * current;
  Eigen::VectorXcd rho = b.nodes.col(column) - i * fem::gradient_transposed(grid, current);
  fem::clear_boundary_edges(grid, r);
  fem::clear_boundary_nodes(grid, rho);
  Eigen::VectorXcd terms = fem::sum_at_nodes(grid, current.cwiseAbs());
  fem::clear_boundary_nodes(grid, terms);
  return {r.norm() / b_norm, rho.norm() > 0.0 ? rho.norm() / terms.norm() : 0.0};
}

EdgeSolver::EdgeSolver(EdgeSystem system) : system_(std::move(system)) {
  const fem::EdgeGrid& grid = *system_.grid;
  if (system_.mass.size() != grid.n_edges() || system_.cell_mass.size() != grid.n_cells())
    throw core::ShapeError("linalg::EdgeSolver#wrong_size",
                           "expected masses of {} edges and {} cells, got {} and {}", grid.n_edges(),
                           grid.n_cells(), system_.mass.size(), system_.cell_mass.size());
  if (!(system_.mass.minCoeff() > 0.0) || !system_.mass.allFinite())
    throw core::InvalidArgument(
        "linalg::EdgeSolver#mass_not_positive",
        "expected finite, positive masses, got {} as the least; are all resistivities "
        "finite and positive?",
        system_.mass.minCoeff());
}

namespace {

[[noreturn]] void throw_not_converged(const std::string& name, const EdgeSolveReport& report,
                                      const EdgeSolveOptions& options) {
  throw core::SolverError(
      "linalg::EdgeSolver#not_converged",
      "the {} solver ended as {} after {} iterations at a residual of {:.1e} (tolerance {:.1e}), "
      "also by {}; look for extreme resistivities or cells",
      name, core::word(report.ending), report.iterations, report.true_residual, options.tolerance,
      report.fallback.empty() ? "no other method" : report.fallback);
}

}  // namespace

std::vector<EdgeSolveReport> EdgeSolver::solve(PairBlock& x, const PairBlock& b,
                                               const EdgeSolveOptions& options) const {
  const fem::EdgeGrid& grid = *system_.grid;
  if (b.edges.rows() != grid.n_edges() || b.nodes.rows() != grid.n_nodes() ||
      b.edges.cols() != b.nodes.cols())
    throw core::ShapeError("linalg::EdgeSolver#wrong_right_hand_side",
                           "expected right-hand sides of {} edges and {} nodes, got {} and {}",
                           grid.n_edges(), grid.n_nodes(), b.edges.rows(), b.nodes.rows());
  if (!b.edges.allFinite() || !b.nodes.allFinite())
    throw core::SolverError("linalg::EdgeSolver#not_finite", "a right-hand side is not finite");
  x = PairBlock(grid, b.edges.cols());
  std::vector<EdgeSolveReport> reports(static_cast<std::size_t>(b.edges.cols()));
  do_solve(x, b, options, reports);
  for (Eigen::Index column = 0; column < b.edges.cols(); ++column) {
    EdgeSolveReport& report = reports[static_cast<std::size_t>(column)];
    const ResidualSize size = residual_size(system_, x, b, column);
    report.true_residual = size.edges;
    report.divergence = size.divergence;
    if (report.ending == Ending::converged && !(size.edges <= largest_drift * options.tolerance))
      report.ending = Ending::inaccurate;
    if (report.ending != Ending::converged) throw_not_converged(name(), report, options);
  }
  return reports;
}

namespace {

/// Measured on one core (docs/results/forward_speed.md).
constexpr double multigrid_s_per_edge = 15.0 * 120e-9, multigrid_bytes_per_edge = 250.0 + 8.0 * 21.0,
                 relief_bytes_per_edge = 200.0;
/// Growth of the resident size was measured with 32 k and 127 k edges: 3500 to 3800 bytes on flat grids. On
/// slopes of 30° it is 4300. About 1300 are vectors of one run of flexible GMRES.
constexpr double ams_s_per_edge = 6e-4, ams_bytes_per_edge = 4300.0;
/// Factors of nested dissection by PORD: entries and flops of the reference pages, 31.6 k to 521 k edges.
double direct_entries(double n) { return 12e6 * std::pow(n / 31.6e3, 1.49); }
constexpr double direct_flops_per_s = 8e9;  // complex multiply-adds count 8
double direct_seconds(double n) { return 8.0 * 1.1e10 * std::pow(n / 31.6e3, 2.05) / direct_flops_per_s; }

}  // namespace

EdgeSolverCost cost_of(EdgeSolverKind kind, const fem::EdgeGrid& grid, Eigen::Index n_right_hand_sides,
                       bool has_relief) {
  const auto n = static_cast<double>(grid.n_inner_edges()), k = static_cast<double>(n_right_hand_sides);
  if (kind == EdgeSolverKind::direct)
    return {direct_seconds(n) + k * 6e-10 * direct_entries(n), 20.0 * direct_entries(n)};
  if (kind == EdgeSolverKind::ams) return {k * ams_s_per_edge * n, ams_bytes_per_edge * n};
  return {k * multigrid_s_per_edge * n,
          (multigrid_bytes_per_edge + (has_relief ? relief_bytes_per_edge : 0.0)) * n};
}

bool fits_machine(const EdgeSolverCost& cost, double machine_bytes) {
  return machine_bytes == 0.0 || cost.bytes < 0.5 * machine_bytes;
}

EdgeSolverKind choose_edge_solver(const fem::EdgeGrid& grid, Eigen::Index n_right_hand_sides, bool has_relief,
                                  double memory_bytes) {
  const auto of = [&](EdgeSolverKind kind) { return cost_of(kind, grid, n_right_hand_sides, has_relief); };
  const EdgeSolverCost direct = of(EdgeSolverKind::direct), multigrid = of(EdgeSolverKind::multigrid);
  return direct.bytes <= memory_bytes && direct.seconds < multigrid.seconds ? EdgeSolverKind::direct
                                                                            : EdgeSolverKind::multigrid;
}

std::unique_ptr<EdgeSolver> make_edge_solver(EdgeSolverKind kind, EdgeSystem system) {
  if (kind == EdgeSolverKind::direct) return make_direct_edge_solver(std::move(system));
  if (kind == EdgeSolverKind::ams) return make_algebraic_edge_solver(std::move(system));
  return make_multigrid_edge_solver(std::move(system));
}

}  // namespace lodestone::physics::linalg
