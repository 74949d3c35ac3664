// SPDX-License-Identifier: Apache-2.0
// Symbols: u field (E_x or H_x), σ, ρ properties, K_y = ∫∂yφ ∂yφ, K_z = ∫∂zφ ∂zφ, M = ∫φφ over a cell, ωμ = ω·μ0, i the imaginary unit.
#include "physics/mt/mode_operator.hpp"

#include "physics/mt/units.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::physics::mt {

namespace {

constexpr Complex imaginary_unit{0.0, 1.0};

/// Position of (a, b) in the stored upper triangle of a symmetric 4 × 4 matrix.
constexpr int packed(int a, int b) {
  if (a > b) std::swap(a, b);
  return a * 4 - a * (a - 1) / 2 + (b - a);
}

}  // namespace

ModeOperator::ModeOperator(Mode mode, const BandMesh& band)
    : mode_(mode),
      perfect_conductor_(band.perfect_conductor_below),
      sea_conductivity_(1.0 / band.sea_resistivity_ohm_m),
      n_rows_(band.mesh.n_earth()),
      n_columns_(band.mesh.n_y()) {
  const mesh::QuadMesh2D& mesh = band.mesh;
  cells_.reserve(static_cast<std::size_t>(n_cells()));
  for (int column = 0; column < n_columns_; ++column) {
    width_.push_back(mesh.y(column + 1) - mesh.y(column));
    for (int row = 0; row < n_rows_; ++row) cells_.push_back(make_cell(mesh, mesh.ground() + row, column));
    if (mode_ == Mode::te) {
      for (int row = 0; row < mesh.n_air(); ++row) air_cells_.push_back(make_cell(mesh, row, column));
    }
    if (mesh.is_land(column) && mesh.is_land(column + 1)) continue;
    for (int row = mesh.n_air(); row < mesh.ground(); ++row) sea_cells_.push_back(make_cell(mesh, row, column));
  }
  number_unknowns(mesh);
  build_pattern();
}

ModeOperator::Cell ModeOperator::make_cell(const mesh::QuadMesh2D& mesh, int row, int column) {
  Cell cell{};
  cell.nodes = {mesh.node(row, column), mesh.node(row, column + 1), mesh.node(row + 1, column), mesh.node(row + 1, column + 1)};
  const double width = mesh.y(column + 1) - mesh.y(column);
  const double z[4] = {mesh.z(row, column), mesh.z(row, column + 1), mesh.z(row + 1, column), mesh.z(row + 1, column + 1)};
  const double gauss = 0.5 / std::sqrt(3.0);
  for (const double s : {0.5 - gauss, 0.5 + gauss}) {
    for (const double t : {0.5 - gauss, 0.5 + gauss}) {
      const double shape[4] = {(1 - s) * (1 - t), s * (1 - t), (1 - s) * t, s * t};
      const double ds[4] = {-(1 - t), 1 - t, -t, t}, dt[4] = {-(1 - s), -s, 1 - s, s};
      double z_s = 0.0, z_t = 0.0;
      for (int a = 0; a < 4; ++a) z_s += ds[a] * z[a], z_t += dt[a] * z[a];
      const double area = 0.25 * width * z_t;  // Gauss weight times the Jacobian; y depends on s alone
      double dy[4], dz[4];
      for (int a = 0; a < 4; ++a) {
        dz[a] = dt[a] / z_t;
        dy[a] = (ds[a] - z_s * dz[a]) / width;
      }
      for (int a = 0; a < 4; ++a) {
        for (int b = a; b < 4; ++b) {
          cell.stiffness_y[packed(a, b)] += area * dy[a] * dy[b];
          cell.stiffness_z[packed(a, b)] += area * dz[a] * dz[b];
          cell.mass[packed(a, b)] += area * shape[a] * shape[b];
        }
      }
    }
  }
  return cell;
}

void ModeOperator::number_unknowns(const mesh::QuadMesh2D& mesh) {
  free_.assign(mesh.n_nodes(), -1);
  const int first = mode_ == Mode::te ? 0 : mesh.n_air() + 1;
  const int last = mode_ == Mode::te && perfect_conductor_ ? mesh.n_z() - 1 : mesh.n_z();
  for (int iy = 0; iy <= mesh.n_y(); ++iy) {
    const bool land = mesh.is_land(iy);
    for (int iz = first; iz <= last; ++iz) {
      const int node = mesh.node(iz, iy), unknown = n_free_++;
      const bool coincides = land && iz > mesh.n_air() && iz <= mesh.ground();  // with the node above it
      free_[node] = coincides ? (iz > first ? free_[node - 1] : -1) : unknown;
      if (coincides) unused_.push_back(unknown);
    }
    top_nodes_.push_back(mesh.node(0, iy));
  }
}

template <class Visit>
void ModeOperator::for_each_known_cell(Visit visit) const {
  for (const Cell& cell : air_cells_) visit(cell, 0.0);
  for (const Cell& cell : sea_cells_) visit(cell, sea_conductivity_);
}

void ModeOperator::build_pattern() {
  std::vector<std::vector<int>> rows(n_free_);
  const auto connect = [&](const Cell& cell) {
    for (const int a : cell.nodes) {
      for (const int b : cell.nodes) {
        if (free_[a] >= 0 && free_[b] >= 0) rows[free_[a]].push_back(free_[b]);
      }
    }
  };
  for (const Cell& cell : cells_) connect(cell);
  for_each_known_cell([&](const Cell& cell, double) { connect(cell); });
  for (const int unknown : unused_) rows[unknown].push_back(unknown);
  pattern_.row_start.assign(1, 0);
  for (auto& row : rows) {
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    pattern_.column.insert(pattern_.column.end(), row.begin(), row.end());
    pattern_.row_start.push_back(static_cast<int>(pattern_.column.size()));
  }
}

Complex ModeOperator::bottom_coefficient(double omega, double property) const {
  const Complex i_omega_mu = imaginary_unit * omega * mu0;
  return std::sqrt(i_omega_mu * property);  // TE: k = √(iωμσ); TM: ρk = √(iωμρ)
}

ModeOperator::ElementMatrix ModeOperator::element(int index, double omega, const Eigen::MatrixXd& properties) const {
  const Cell& cell = cells_[index];
  const Complex i_omega_mu = imaginary_unit * omega * mu0;
  ElementMatrix result;
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < 4; ++b) {
      const int p = packed(a, b);
      result[a][b] = mode_ == Mode::te ? cell.stiffness_y[p] + cell.stiffness_z[p] + i_omega_mu * properties(index, 0) * cell.mass[p]
                                       : properties(index, 0) * cell.stiffness_z[p] + properties(index, 1) * cell.stiffness_y[p] +
                                             i_omega_mu * cell.mass[p];
    }
  }
  return result;
}

ModeOperator::ElementMatrix ModeOperator::known_element(const Cell& cell, double omega, double conductivity) const {
  const Complex i_omega_mu = imaginary_unit * omega * mu0;
  const Complex mass = mode_ == Mode::te ? i_omega_mu * conductivity : i_omega_mu;
  const double stiffness = mode_ == Mode::te ? 1.0 : 1.0 / conductivity;
  ElementMatrix result;
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < 4; ++b) {
      const int p = packed(a, b);
      result[a][b] = stiffness * (cell.stiffness_y[p] + cell.stiffness_z[p]) + mass * cell.mass[p];
    }
  }
  return result;
}

ModeOperator::ElementVector ModeOperator::element_derivative(int index, int property, double omega, const Eigen::MatrixXd& properties,
                                                             const Eigen::VectorXcd& field, bool with_bottom) const {
  const Cell& cell = cells_[index];
  const auto& shape = mode_ == Mode::te ? cell.mass : (property == 0 ? cell.stiffness_z : cell.stiffness_y);
  const Complex factor = mode_ == Mode::te ? imaginary_unit * omega * mu0 : Complex(1.0);
  ElementVector result;
  for (int a = 0; a < 4; ++a) {
    Complex sum = 0.0;
    for (int b = 0; b < 4; ++b) sum += shape[packed(a, b)] * field[cell.nodes[b]];
    result[a] = factor * sum;
  }
  if (with_bottom && property == 0 && is_bottom(index)) {
    const double value = properties(index, 0);
    const Complex change = bottom_coefficient(omega, value) * (bottom_width(index) / (12.0 * value));
    const Complex left = field[cell.nodes[2]], right = field[cell.nodes[3]];
    result[2] += change * (2.0 * left + right);
    result[3] += change * (left + 2.0 * right);
  }
  return result;
}

template <class Add>
void ModeOperator::for_each_entry(double omega, const Eigen::MatrixXd& properties, Add add) const {
  const auto add_element = [&](const std::array<int, 4>& nodes, const ElementMatrix& matrix) {
    for (int a = 0; a < 4; ++a) {
      if (free_[nodes[a]] < 0) continue;
      for (int b = 0; b < 4; ++b) add(free_[nodes[a]], nodes[b], matrix[a][b]);
    }
  };
  for_each_known_cell([&](const Cell& cell, double conductivity) { add_element(cell.nodes, known_element(cell, omega, conductivity)); });
  for (int index = 0; index < n_cells(); ++index) {
    ElementMatrix matrix = element(index, omega, properties);
    if (is_bottom(index)) {
      const Complex edge = bottom_coefficient(omega, properties(index, 0)) * (bottom_width(index) / 6.0);
      matrix[2][2] += 2.0 * edge;
      matrix[3][3] += 2.0 * edge;
      matrix[2][3] += edge;
      matrix[3][2] += edge;
    }
    add_element(cells_[index].nodes, matrix);
  }
}

std::vector<Complex> ModeOperator::matrix(double omega, const Eigen::MatrixXd& properties) const {
  std::vector<Complex> values(pattern_.column.size());
  for_each_entry(omega, properties, [&](int row, int node, Complex value) {
    if (free_[node] < 0) return;
    const auto begin = pattern_.column.begin() + pattern_.row_start[row], end = pattern_.column.begin() + pattern_.row_start[row + 1];
    values[std::lower_bound(begin, end, free_[node]) - pattern_.column.begin()] += value;
  });
  for (const int unknown : unused_) values[pattern_.row_start[unknown]] = 1.0;
  return values;
}

Eigen::VectorXcd ModeOperator::right_hand_side(double omega, const Eigen::MatrixXd& properties) const {
  Eigen::VectorXcd rhs = Eigen::VectorXcd::Zero(n_free_);
  if (mode_ == Mode::te) {  // unit H_y enters through the top: ∮ ∂E/∂n φ = iωμ ∫ φ
    const Complex i_omega_mu = imaginary_unit * omega * mu0;
    for (int column = 0; column < n_columns_; ++column) {
      rhs[free_[top_nodes_[column]]] += 0.5 * i_omega_mu * width_[column];
      rhs[free_[top_nodes_[column + 1]]] += 0.5 * i_omega_mu * width_[column];
    }
    return rhs;
  }
  // H = 1 on the surface moves to the right-hand side.
  const auto move = [&](const Cell& cell, const ElementMatrix& matrix) {
    for (int a = 0; a < 4; ++a) {
      const int row = free_[cell.nodes[a]];
      for (int b = 0; b < 4 && row >= 0; ++b) {
        if (free_[cell.nodes[b]] < 0) rhs[row] -= matrix[a][b];
      }
    }
  };
  for (int column = 0; column < n_columns_; ++column) move(cells_[column * n_rows_], element(column * n_rows_, omega, properties));
  for (const Cell& cell : sea_cells_) move(cell, known_element(cell, omega, sea_conductivity_));
  return rhs;
}

Eigen::VectorXcd ModeOperator::field(const Eigen::VectorXcd& unknowns) const {
  const Complex fixed = mode_ == Mode::te ? 0.0 : 1.0;
  Eigen::VectorXcd result(n_nodes());
  for (int node = 0; node < n_nodes(); ++node) result[node] = free_[node] >= 0 ? unknowns[free_[node]] : fixed;
  return result;
}

Eigen::MatrixXcd ModeOperator::on_nodes(const Eigen::MatrixXcd& unknowns) const {
  Eigen::MatrixXcd result = Eigen::MatrixXcd::Zero(n_nodes(), unknowns.cols());
  for (int node = 0; node < n_nodes(); ++node) {
    if (free_[node] >= 0) result.row(node) = unknowns.row(free_[node]);
  }
  return result;
}

}  // namespace lodestone::physics::mt
