// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d3/background.hpp"

#include "physics/fem/relief_operator.hpp"
#include "physics/linalg/symmetric_solver.hpp"
#include "physics/mt/units.hpp"

#include <cmath>
#include <utility>

namespace lodestone::physics::mt::d3 {

Eigen::VectorXd layered_resistivity(const mesh::TensorGrid& grid, const Eigen::VectorXd& resistivity) {
  Eigen::VectorXd result(resistivity.size());
  for (int iz = 0; iz < grid.n_z(); ++iz) {
    const double first = resistivity[grid.index(iz, 0, 0)];
    double sum = 0.0;  // of logarithms over the first cell's, so that equal cells keep their value exactly
    int count = 0;
    for (int iy = 0; iy < grid.n_y(); ++iy) {
      for (int ix = 0; ix < grid.n_x(); ++ix) {
        if (ix > 0 && iy > 0 && ix < grid.n_x() - 1 && iy < grid.n_y() - 1) continue;
        sum += std::log(resistivity[grid.index(iz, iy, ix)] / first);
        ++count;
      }
    }
    const double mean = first * std::exp(sum / count);
    result.segment(grid.index(iz, 0, 0), grid.n_columns()).setConstant(mean);
  }
  return result;
}

namespace {

/// The layered field on the lines along z, from ratios of neighbours that rise from the bottom.
std::vector<Complex> field_of_lines(const fem::EdgeGrid& grid, const Eigen::VectorXd& masses, double omega,
                                    int along) {
  const int n = grid.n(2), across = 1 - along;
  const auto diagonal = [&](int k) {
    const Eigen::Index edge = along == 0 ? grid.edge(0, 0, 1, k) : grid.edge(1, 1, 0, k);
    const double mass = masses[edge] * grid.width_m(along, 0) / grid.dual_m(across, 1);
    return Complex(1.0 / grid.width_m(2, k) + 1.0 / grid.width_m(2, k - 1), omega * mu0 * mass);
  };
  std::vector<Complex> ratio(n + 1, 0.0), field(n + 1, 1.0);
  for (int k = n - 1; k >= 1; --k)
    ratio[k] = (1.0 / grid.width_m(2, k - 1)) / (diagonal(k) - ratio[k + 1] / grid.width_m(2, k));
  for (int k = 1; k <= n; ++k) field[k] = ratio[k] * field[k - 1];
  return field;
}

}  // namespace

Eigen::VectorXcd layered_field(const fem::EdgeGrid& grid, const Eigen::VectorXd& masses, double omega,
                               Polarization polarization) {
  const int along = static_cast<int>(polarization);
  const std::vector<Complex> field = field_of_lines(grid, masses, omega, along);
  Eigen::VectorXcd result = Eigen::VectorXcd::Zero(grid.n_edges());
  fem::for_each_edge(grid, [&](int axis, int i, int j, int k) {
    if (axis == along) result[grid.edge(axis, i, j, k)] = field[k] * grid.width_m(axis, axis == 0 ? i : j);
  });
  return result;
}

namespace {

/// Unknowns of a vertical section along an axis, a cell wide across it. Per cell along it: e of the
/// horizontal edges, φ of the nodes where the cell begins; vertical edges follow from φ. Nothing is fixed at
/// the top. At both ends there is no vertical field, and no field at the bottom.
fem::PairUnknowns unknowns_of_section(const fem::EdgeGrid& grid, int along) {
  fem::PairUnknowns result{Eigen::VectorXi::Constant(grid.n_edges(), -1),
                           Eigen::VectorXi::Constant(grid.n_nodes(), -1), 2 * grid.n(2) * grid.n(along)};
  fem::for_each_edge(grid, [&](int axis, int i, int j, int k) {
    if (axis == along && k < grid.n(2))
      result.edges[grid.edge(axis, i, j, k)] = 2 * grid.n(2) * (along == 0 ? i : j) + k;
  });
  fem::for_each_node(grid, [&](int i, int j, int k) {
    const int at = along == 0 ? i : j;
    if (at > 0 && at < grid.n(along) && k < grid.n(2))
      result.nodes[grid.node(i, j, k)] = grid.n(2) * (2 * at + 1) + k;
  });
  return result;
}

/// Solves a section for a source on its edges. shape: (edges of the section's grid).
Eigen::VectorXcd solve_section(const fem::EdgeGrid& grid, fem::ComplexRows matrix,
                               const fem::PairUnknowns& unknown, const Eigen::VectorXcd& source) {
  const int n = grid.n(2);
  for (int k = 0; k < n; ++k) matrix.coeffRef(n + k, n + k) = 1.0;  // places without φ
  matrix.makeCompressed();
  linalg::SparsityPattern pattern{{matrix.outerIndexPtr(), matrix.outerIndexPtr() + matrix.rows() + 1},
                                  {matrix.innerIndexPtr(), matrix.innerIndexPtr() + matrix.nonZeros()}};
  const auto solver = linalg::make_line_solver(std::move(pattern), 2 * n);
  const auto factors = solver->factorize({matrix.valuePtr(), static_cast<std::size_t>(matrix.nonZeros())});
  const Eigen::VectorXcd divergence = fem::gradient_transposed(grid, source);
  Eigen::MatrixXcd right = Eigen::MatrixXcd::Zero(unknown.count, 1);
  for (Eigen::Index e = 0; e < source.size(); ++e) {
    if (unknown.edges[e] >= 0) right(unknown.edges[e], 0) += source[e];
  }
  for (Eigen::Index node = 0; node < divergence.size(); ++node) {
    if (unknown.nodes[node] >= 0) right(unknown.nodes[node], 0) += divergence[node];
  }
  const Eigen::MatrixXcd solution = factors->solve(right);
  const auto spread = [&](const Eigen::VectorXi& numbers) {
    return Eigen::VectorXcd(Eigen::VectorXcd::NullaryExpr(numbers.size(), [&](Eigen::Index i) {
      return numbers[i] < 0 ? Complex{} : solution(numbers[i], 0);
    }));
  };
  return spread(unknown.edges) + fem::gradient(grid, spread(unknown.nodes));
}

/// One vertical section along an axis under a level surface; its source is that of the layered field.
class Section {
 public:
  Section(const fem::EdgeGrid& volume, int along, double across_m)
      : along_(along), grid_(lines_of(volume, along, across_m)) {}

  /// Returns the field beyond the layered one. shape: (edges of the section's grid).
  [[nodiscard]] Eigen::VectorXcd difference(const mesh::Earth& earth, const Eigen::VectorXd& resistivity,
                                            const Eigen::VectorXd& layered, double omega) const {
    const EdgeAverages averages(earth, grid_);
    const Eigen::VectorXd masses = averages.masses(resistivity), layered_masses = averages.masses(layered);
    const Eigen::VectorXd change = masses - layered_masses;
    if ((change.array().abs() <= 1e-12 * layered_masses.array()).all())
      return Eigen::VectorXcd::Zero(grid_.n_edges());
    const Eigen::VectorXcd source =
        Complex(0.0, -omega * mu0) * change.cwiseProduct(layered_in_section(layered_masses, omega));
    const fem::PairUnknowns unknowns = unknowns_of_section(grid_, along_);
    return solve_section(grid_, fem::pair_matrix(grid_, omega * mu0 * masses, unknowns), unknowns, source);
  }
  [[nodiscard]] const fem::EdgeGrid& grid() const { return grid_; }

 private:
  static fem::EdgeGrid lines_of(const fem::EdgeGrid& volume, int along, double across_m) {
    std::array<std::vector<double>, 3> lines{volume.lines_m(0), volume.lines_m(1), volume.lines_m(2)};
    lines[1 - along] = {across_m, across_m + 1.0};
    return fem::EdgeGrid(std::move(lines));
  }
  [[nodiscard]] Eigen::VectorXcd layered_in_section(const Eigen::VectorXd& masses, double omega) const {
    return layered_field(grid_, masses, omega, along_ == 0 ? Polarization::x : Polarization::y);
  }
  int along_;
  fem::EdgeGrid grid_;
};

}  // namespace

namespace {

/// The fields of the sections on two sides, spread over the boundary: linear between them at the top. `field`
/// of a side (0, 1) → circulations on a grid of the section, a cell wide.
template <class FieldOfSide>
Eigen::VectorXcd spread_over_boundary(const fem::EdgeGrid& grid, int along, FieldOfSide field_of_side) {
  const int across = 1 - along;
  const auto& lines = grid.lines_m(across);
  Eigen::VectorXcd result = Eigen::VectorXcd::Zero(grid.n_edges());
  std::array<Eigen::VectorXcd, 2> top;  // of both sides
  for (int side = 0; side < 2; ++side) {
    const int at = side == 0 ? 0 : grid.n(across);
    const auto [section, field] = field_of_side(side);
    const auto of_section = [&section = section, along](int axis, int i, int k) {
      return along == 0 ? section.edge(axis, i, 0, k) : section.edge(axis, 0, i, k);
    };
    const auto edge = [&](int axis, int i, int k) {
      return along == 0 ? grid.edge(axis, i, at, k) : grid.edge(axis, at, i, k);
    };
    top[side] = Eigen::VectorXcd(grid.n(along));
    for (int i = 0; i < grid.n(along); ++i) {
      for (int k = 0; k <= grid.n(2); ++k) result[edge(along, i, k)] = field[of_section(along, i, k)];
      top[side][i] = field[of_section(along, i, 0)];
    }
    for (int i = 0; i <= grid.n(along); ++i) {
      for (int k = 0; k < grid.n(2); ++k) result[edge(2, i, k)] = field[of_section(2, i, k)];
    }
  }
  for (int j = 1; j < grid.n(across); ++j) {
    const double t = (lines[j] - lines.front()) / (lines.back() - lines.front());
    for (int i = 0; i < grid.n(along); ++i)
      result[along == 0 ? grid.edge(0, i, j, 0) : grid.edge(1, j, i, 0)] =
          (1.0 - t) * top[0][i] + t * top[1][i];
  }
  return result;
}

}  // namespace

Eigen::VectorXcd boundary_difference(const mesh::Earth& earth, const Eigen::VectorXd& resistivity,
                                     const Eigen::VectorXd& layered, const fem::EdgeGrid& grid, double omega,
                                     Polarization polarization) {
  const int along = static_cast<int>(polarization);
  const auto& lines = grid.lines_m(1 - along);
  return spread_over_boundary(grid, along, [&](int side) {
    const Section section(grid, along, side == 0 ? lines.front() : lines.back() - 1.0);
    return std::pair(section.grid(), section.difference(earth, resistivity, layered, omega));
  });
}

namespace {

/// The side of a relief as a grid of one cell across, and its conductivities.
struct ReliefSection {
  fem::ReliefGrid grid;
  Eigen::VectorXd conductivities;
};
ReliefSection section_of(const fem::ReliefGrid& volume, const Eigen::VectorXd& conductivities, int along,
                         int side) {
  const fem::EdgeGrid& lines = volume.lines();
  const int across = 1 - along, node = side == 0 ? 0 : lines.n(across),
            cell = side == 0 ? 0 : lines.n(across) - 1;
  std::array<std::vector<double>, 3> of_section{lines.lines_m(0), lines.lines_m(1), lines.lines_m(2)};
  of_section[across] = {0.0, 1.0};
  fem::EdgeGrid grid(std::move(of_section));
  Eigen::VectorXd z(grid.n_nodes()), cells(grid.n_cells());
  fem::for_each_node(grid, [&](int i, int j, int k) {
    z[grid.node(i, j, k)] = along == 0 ? volume.z_m(i, node, k) : volume.z_m(node, j, k);
  });
  for (int k = 0; k < grid.n(2); ++k) {
    for (int i = 0; i < grid.n(along); ++i)
      cells[along == 0 ? grid.cell(i, 0, k) : grid.cell(0, i, k)] =
          conductivities[along == 0 ? lines.cell(i, cell, k) : lines.cell(cell, i, k)];
  }
  return {fem::ReliefGrid(std::move(grid), std::move(z)), std::move(cells)};
}

/// Solves a section for a magnetic field of one ampere per metre along its strike at the top, but for a
/// factor.
Eigen::VectorXcd field_of_section(ReliefSection section, int along, double omega) {
  const fem::ReliefOperator op(std::move(section.grid));
  const fem::EdgeGrid& grid = op.grid().lines();
  const fem::PairUnknowns unknowns = unknowns_of_section(grid, along);
  Eigen::VectorXcd source = Eigen::VectorXcd::Zero(grid.n_edges());
  fem::for_each_edge(grid, [&](int axis, int i, int j, int k) {
    if (axis == along && k == 0) source[grid.edge(axis, i, j, k)] = 0.5;
  });
  return solve_section(
      grid,
      fem::pair_matrix(grid, op.faces(), op.mass_matrix(omega * mu0 * section.conductivities), unknowns),
      unknowns, source);
}

}  // namespace

Eigen::VectorXcd boundary_field(const fem::ReliefGrid& grid, const Eigen::VectorXd& conductivities,
                                double omega, Polarization polarization) {
  const int along = static_cast<int>(polarization);
  return spread_over_boundary(grid.lines(), along, [&](int side) {
    ReliefSection section = section_of(grid, conductivities, along, side);
    fem::EdgeGrid lines = section.grid.lines();
    return std::pair(std::move(lines), field_of_section(std::move(section), along, omega));
  });
}

}  // namespace lodestone::physics::mt::d3
