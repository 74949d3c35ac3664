// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d3/background.hpp"

#include "physics/fem/edge_operator.hpp"
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

/// One vertical section along an axis, a cell wide across it. Unknowns per cell along it: e of the horizontal
/// edges, φ of the nodes where the cell begins; vertical edges follow from φ. Nothing is fixed at the top but
/// the source of the layered field. At both ends there is no vertical field, and no field at the bottom.
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
    return solve(omega * mu0 * masses, source);
  }
  [[nodiscard]] const fem::EdgeGrid& grid() const { return grid_; }
  /// Returns the edge at place i along the section and k down, on its first side.
  [[nodiscard]] Eigen::Index edge(int axis, int i, int k) const {
    return along_ == 0 ? grid_.edge(axis, i, 0, k) : grid_.edge(axis, 0, i, k);
  }

 private:
  static fem::EdgeGrid lines_of(const fem::EdgeGrid& volume, int along, double across_m) {
    std::array<std::vector<double>, 3> lines{volume.lines_m(0), volume.lines_m(1), volume.lines_m(2)};
    lines[1 - along] = {across_m, across_m + 1.0};
    return fem::EdgeGrid(std::move(lines));
  }
  [[nodiscard]] Eigen::VectorXcd layered_in_section(const Eigen::VectorXd& masses, double omega) const {
    return layered_field(grid_, masses, omega, along_ == 0 ? Polarization::x : Polarization::y);
  }
  [[nodiscard]] fem::PairUnknowns unknowns() const {
    fem::PairUnknowns result{Eigen::VectorXi::Constant(grid_.n_edges(), -1),
                             Eigen::VectorXi::Constant(grid_.n_nodes(), -1),
                             2 * grid_.n(2) * grid_.n(along_)};
    fem::for_each_edge(grid_, [&](int axis, int i, int j, int k) {
      if (axis == along_ && k < grid_.n(2))
        result.edges[grid_.edge(axis, i, j, k)] = 2 * grid_.n(2) * (along_ == 0 ? i : j) + k;
    });
    fem::for_each_node(grid_, [&](int i, int j, int k) {
      const int at = along_ == 0 ? i : j;
      if (at > 0 && at < grid_.n(along_) && k < grid_.n(2))
        result.nodes[grid_.node(i, j, k)] = grid_.n(2) * (2 * at + 1) + k;
    });
    return result;
  }
  [[nodiscard]] Eigen::VectorXcd solve(const Eigen::VectorXd& mass, const Eigen::VectorXcd& source) const {
    const fem::PairUnknowns unknown = unknowns();
    fem::ComplexRows matrix = fem::pair_matrix(grid_, mass, unknown);
    for (int k = 0; k < grid_.n(2); ++k)
      matrix.coeffRef(grid_.n(2) + k, grid_.n(2) + k) = 1.0;  // places without φ
    matrix.makeCompressed();
    linalg::SparsityPattern pattern{{matrix.outerIndexPtr(), matrix.outerIndexPtr() + matrix.rows() + 1},
                                    {matrix.innerIndexPtr(), matrix.innerIndexPtr() + matrix.nonZeros()}};
    const auto solver = linalg::make_line_solver(std::move(pattern), 2 * grid_.n(2));
    const auto factors = solver->factorize({matrix.valuePtr(), static_cast<std::size_t>(matrix.nonZeros())});
    const Eigen::VectorXcd divergence = fem::gradient_transposed(grid_, source);
    Eigen::MatrixXcd right = Eigen::MatrixXcd::Zero(unknown.count, 1);
    for (Eigen::Index e = 0; e < source.size(); ++e) {
      if (unknown.edges[e] >= 0) right(unknown.edges[e], 0) += source[e];
    }
    for (Eigen::Index n = 0; n < divergence.size(); ++n) {
      if (unknown.nodes[n] >= 0) right(unknown.nodes[n], 0) += divergence[n];
    }
    const Eigen::MatrixXcd solution = factors->solve(right);
    const auto spread = [&](const Eigen::VectorXi& numbers) {
      return Eigen::VectorXcd(Eigen::VectorXcd::NullaryExpr(numbers.size(), [&](Eigen::Index i) {
        return numbers[i] < 0 ? Complex{} : solution(numbers[i], 0);
      }));
    };
    return spread(unknown.edges) + fem::gradient(grid_, spread(unknown.nodes));
  }

  int along_;
  fem::EdgeGrid grid_;
};

}  // namespace

Eigen::VectorXcd boundary_difference(const mesh::Earth& earth, const Eigen::VectorXd& resistivity,
                                     const Eigen::VectorXd& layered, const fem::EdgeGrid& grid, double omega,
                                     Polarization polarization) {
  const int along = static_cast<int>(polarization), across = 1 - along;
  const auto& lines = grid.lines_m(across);
  Eigen::VectorXcd result = Eigen::VectorXcd::Zero(grid.n_edges());
  std::array<Eigen::VectorXcd, 2> top;  // of both sides
  for (int side = 0; side < 2; ++side) {
    const int at = side == 0 ? 0 : grid.n(across);
    const Section section(grid, along, side == 0 ? lines.front() : lines.back() - 1.0);
    const Eigen::VectorXcd field = section.difference(earth, resistivity, layered, omega);
    const auto edge = [&](int axis, int i, int k) {
      return along == 0 ? grid.edge(axis, i, at, k) : grid.edge(axis, at, i, k);
    };
    top[side] = Eigen::VectorXcd(grid.n(along));
    for (int i = 0; i < grid.n(along); ++i) {
      for (int k = 0; k <= grid.n(2); ++k) result[edge(along, i, k)] = field[section.edge(along, i, k)];
      top[side][i] = field[section.edge(along, i, 0)];
    }
    for (int i = 0; i <= grid.n(along); ++i) {
      for (int k = 0; k < grid.n(2); ++k) result[edge(2, i, k)] = field[section.edge(2, i, k)];
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

}  // namespace lodestone::physics::mt::d3
