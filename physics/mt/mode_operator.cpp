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

ModeOperator::ModeOperator(Mode mode, const mesh::QuadMesh2D& mesh, bool perfect_conductor_below)
    : mode_(mode), perfect_conductor_(perfect_conductor_below), n_rows_(mesh.n_z() - mesh.n_air()), n_columns_(mesh.n_y()) {
  cells_.reserve(static_cast<std::size_t>(n_cells()));
  for (int column = 0; column < n_columns_; ++column) {
    width_.push_back(mesh.y(column + 1) - mesh.y(column));
    for (int row = 0; row < n_rows_; ++row) cells_.push_back(make_cell(mesh, mesh.n_air() + row, column));
    if (mode_ == Mode::te) {
      for (int row = 0; row < mesh.n_air(); ++row) air_cells_.push_back(make_cell(mesh, row, column));
    }
  }
  number_unknowns(mesh);
  build_pattern(mesh);
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
  for (int iy = 0; iy <= mesh.n_y(); ++iy) {
    const int first = mode_ == Mode::te ? 0 : mesh.n_air() + 1;
    const int last = mode_ == Mode::te && perfect_conductor_ ? mesh.n_z() - 1 : mesh.n_z();
    for (int iz = first; iz <= last; ++iz) free_[mesh.node(iz, iy)] = n_free_++;
    top_nodes_.push_back(mesh.node(0, iy));
  }
}

void ModeOperator::build_pattern(const mesh::QuadMesh2D& mesh) {
  pattern_.row_start.assign(1, 0);
  for (int iy = 0; iy <= mesh.n_y(); ++iy) {
    for (int iz = 0; iz <= mesh.n_z(); ++iz) {
      if (free_[mesh.node(iz, iy)] < 0) continue;
      for (int jy = std::max(0, iy - 1); jy <= std::min(mesh.n_y(), iy + 1); ++jy) {
        for (int jz = std::max(0, iz - 1); jz <= std::min(mesh.n_z(), iz + 1); ++jz) {
          if (free_[mesh.node(jz, jy)] >= 0) pattern_.column.push_back(free_[mesh.node(jz, jy)]);
        }
      }
      pattern_.row_start.push_back(static_cast<int>(pattern_.column.size()));
    }
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

ModeOperator::ElementMatrix ModeOperator::air_element(const Cell& cell) const {
  ElementMatrix result;
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < 4; ++b) result[a][b] = cell.stiffness_y[packed(a, b)] + cell.stiffness_z[packed(a, b)];
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
  for (const Cell& cell : air_cells_) add_element(cell.nodes, air_element(cell));
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
  for (int column = 0; column < n_columns_; ++column) {  // H = 1 on the surface moves to the right-hand side
    const int index = column * n_rows_;
    const ElementMatrix matrix = element(index, omega, properties);
    for (int a : {2, 3}) {
      if (const int row = free_[cells_[index].nodes[a]]; row >= 0) rhs[row] -= matrix[a][0] + matrix[a][1];
    }
  }
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
