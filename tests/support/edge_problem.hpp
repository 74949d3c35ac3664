// SPDX-License-Identifier: Apache-2.0
// Small systems of edge elements for the tests of their solvers: bodies of high contrast under air.
#pragma once

#include "engine/core/random.hpp"
#include "physics/fem/edge_operator.hpp"
#include "physics/linalg/edge_solver.hpp"
#include "physics/linalg/multigrid/coarsening.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <numbers>
#include <vector>

namespace lodestone::tests {

/// The ingredients of a system. Lengths in metres, conductivities in S/m.
struct EdgeProblemShape {
  enum class Kind { bodies, random, sea } kind = Kind::bodies;
  int n_side = 16;  ///< cells along x and y
  int n_pad = 5;    ///< number of these on each side, growing outwards
  int n_earth = 12, n_air = 5;
  double cell_m = 500.0, cell_y_over_x = 1.0, first_layer_m = 10.0;
  double period_s = 10.0, air = 1e-10;
  double contrast = 100.0;  ///< ratio of the bodies to the half-space of 0.01 S/m
  double slope_deg = -1.0;  ///< steepest slope of hills and valleys in the middle; negative: a flat grid
};

/// Widths that grow by one factor from `first` to a sum.
inline std::vector<double> growing_widths(double first, int n, double total) {
  double low = 1.0, high = 50.0;
  const auto sum = [&](double q) {
    return std::abs(q - 1.0) < 1e-12 ? first * n : first * (std::pow(q, n) - 1.0) / (q - 1.0);
  };
  for (int i = 0; i < 100; ++i) (sum(0.5 * (low + high)) < total ? low : high) = 0.5 * (low + high);
  std::vector<double> widths;
  for (int i = 0; i < n; ++i) widths.push_back(first * std::pow(low, i));
  return widths;
}

inline std::vector<double> lines_of(const std::vector<double>& widths, double zero_at) {
  std::vector<double> lines{-zero_at};
  for (const double width : widths) lines.push_back(lines.back() + width);
  return lines;
}

inline std::vector<double> side_lines(int n, int n_pad, double cell_m) {
  const auto outwards = growing_widths(1.2 * cell_m, n_pad, 2e5);
  std::vector<double> widths(outwards.rbegin(), outwards.rend());
  widths.insert(widths.end(), static_cast<std::size_t>(n - 2 * n_pad), cell_m);
  widths.insert(widths.end(), outwards.begin(), outwards.end());
  double total = 0.0;
  for (const double width : widths) total += width;
  return lines_of(widths, 0.5 * total);
}

inline std::shared_ptr<const physics::fem::EdgeGrid> edge_grid(const EdgeProblemShape& shape) {
  const auto air = growing_widths(shape.first_layer_m, shape.n_air, 1.5e5),
             earth = growing_widths(shape.first_layer_m, shape.n_earth, 3e5);
  std::vector<double> widths(air.rbegin(), air.rend());
  double height = 0.0;
  for (const double width : widths) height += width;
  widths.insert(widths.end(), earth.begin(), earth.end());
  auto z = lines_of(widths, height);
  z[static_cast<std::size_t>(shape.n_air)] = 0.0;
  return std::make_shared<const physics::fem::EdgeGrid>(std::array<std::vector<double>, 3>{
      side_lines(shape.n_side, shape.n_pad, shape.cell_m),
      side_lines(shape.n_side, shape.n_pad, shape.cell_m * shape.cell_y_over_x), z});
}

inline double conductivity_at(const EdgeProblemShape& shape, double x, double y, double z, double uniform) {
  constexpr double host = 0.01;
  const double h = shape.cell_m;
  if (z < 0.0) return shape.air;
  switch (shape.kind) {
    case EdgeProblemShape::Kind::bodies:
      if (std::abs(y) < 2 * h * shape.cell_y_over_x && std::abs(x + 1.5 * h) < h && z > 250 && z < 4000)
        return host * shape.contrast;
      return std::abs(y) < 2 * h * shape.cell_y_over_x * shape.cell_y_over_x && std::abs(x - 1.5 * h) < h &&
                     z < 6000
                 ? host / shape.contrast
                 : host;
    case EdgeProblemShape::Kind::random:
      return std::max(std::abs(x), std::abs(y)) > 1e5 ? host : std::pow(10.0, -4.0 + 4.0 * uniform);
    case EdgeProblemShape::Kind::sea:
      return x > h + 0.3 * y && z < 1000 ? 3.3 : z < 3e4 ? 1e-4 : 0.02;
  }
  return host;
}

/// Hills and valleys over the cells of the middle, on layers that become level far above and below.
inline physics::fem::ReliefGrid relief_grid(const EdgeProblemShape& shape) {
  using physics::fem::ReliefGrid;
  const auto lines = edge_grid(shape);
  const double half = 0.5 * shape.cell_m * (shape.n_side - 2 * shape.n_pad);
  const auto raised = [&](double amplitude) {
    const double reach = std::max(4.0 * amplitude, 1e3);
    Eigen::VectorXd z(lines->n_nodes());
    physics::fem::for_each_node(*lines, [&](int i, int j, int k) {
      const double x = lines->lines_m(0)[i], y = lines->lines_m(1)[j], level = lines->lines_m(2)[k];
      const bool is_outside = std::abs(x) >= half || std::abs(y) >= half * shape.cell_y_over_x;
      const double hill = is_outside ? 0.0
                                     : std::sin(std::numbers::pi * x / half) *
                                           std::sin(std::numbers::pi * y / (half * shape.cell_y_over_x));
      z[lines->node(i, j, k)] = level + amplitude * hill * std::max(0.0, 1.0 - std::abs(level) / reach);
    });
    return ReliefGrid(*lines, std::move(z));
  };
  const double of_one_metre = raised(1.0).steepest(shape.n_air);
  return raised(std::tan(shape.slope_deg * std::numbers::pi / 180.0) / of_one_metre);
}

/// A system and a right-hand side: currents in what differs from the half-space, damped downwards.
struct EdgeProblem {
  physics::linalg::EdgeSystem system;
  physics::linalg::PairBlock right;

  void set_source(Eigen::VectorXcd source) {
    physics::fem::clear_boundary_edges(*system.grid, source);
    Eigen::VectorXcd divergence = physics::fem::gradient_transposed(*system.grid, source);
    physics::fem::clear_boundary_nodes(*system.grid, divergence);
    right.edges.col(0) = source;
    right.nodes.col(0) = divergence;
  }
};
inline EdgeProblem edge_problem(const EdgeProblemShape& shape) {
  using namespace physics;
  const auto grid = edge_grid(shape);
  const double scale = 2.0 * std::numbers::pi / shape.period_s * 4e-7 * std::numbers::pi;
  const core::Philox random(5);
  Eigen::VectorXd cells(grid->n_cells()), host = cells;
  EdgeProblemShape plain = shape;
  plain.kind = EdgeProblemShape::Kind::bodies;
  plain.contrast = 1.0;
  const auto middle = [&](int axis, int i) {
    return 0.5 * (grid->lines_m(axis)[i] + grid->lines_m(axis)[i + 1]);
  };
  for (int k = 0; k < grid->n(2); ++k) {
    for (int j = 0; j < grid->n(1); ++j) {
      for (int i = 0; i < grid->n(0); ++i) {
        const auto cell = grid->cell(i, j, k);
        const double uniform = random.uniform(static_cast<std::uint64_t>(cell));
        cells[cell] = scale * conductivity_at(shape, middle(0, i), middle(1, j), middle(2, k), uniform);
        host[cell] = scale * conductivity_at(plain, middle(0, i), middle(1, j), middle(2, k), uniform);
      }
    }
  }
  const std::complex<double> k_host = std::sqrt(std::complex<double>(0.0, scale * 0.01));
  const auto host_field = [&](int axis, int i, int k) {
    return axis == 0 ? grid->width_m(0, i) * std::exp(-k_host * std::max(0.0, grid->lines_m(2)[k]))
                     : std::complex<double>{};
  };
  if (shape.slope_deg >= 0.0) {
    const auto relief = std::make_shared<const fem::ReliefOperator>(relief_grid(shape));
    EdgeProblem problem{linalg::relief_system(relief, cells, shape.n_air), linalg::PairBlock(*grid, 1)};
    Eigen::VectorXcd field(grid->n_edges());
    fem::for_each_edge(*grid, [&](int axis, int i, int j, int k) {
      field[grid->edge(axis, i, j, k)] = host_field(axis, i, k);
    });
    problem.set_source(std::complex<double>(0.0, -1.0) *
                       fem::product(relief->mass_matrix(cells - host), field));
    return problem;
  }
  EdgeProblem problem{{grid, linalg::multigrid::edge_masses(*grid, cells), cells, shape.n_air},
                      linalg::PairBlock(*grid, 1)};
  const Eigen::VectorXd change = problem.system.mass - linalg::multigrid::edge_masses(*grid, host);
  Eigen::VectorXcd source = Eigen::VectorXcd::Zero(grid->n_edges());
  fem::for_each_edge(*grid, [&](int axis, int i, int j, int k) {
    const auto edge = grid->edge(axis, i, j, k);
    source[edge] = std::complex<double>(0.0, -change[edge]) * host_field(axis, i, k);
  });
  problem.set_source(std::move(source));
  return problem;
}

}  // namespace lodestone::tests
