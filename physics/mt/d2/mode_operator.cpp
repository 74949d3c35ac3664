// SPDX-License-Identifier: Apache-2.0
// Symbols: u field (E_x or H_x), σ, ρ properties, K_y = ∫∂yφ ∂yφ, K_z = ∫∂zφ ∂zφ, M = ∫φφ over a cell, ωμ =
// ω·μ0, i the imaginary unit.
#include "physics/mt/d2/mode_operator.hpp"

#include "physics/mt/units.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::physics::mt::d2 {

namespace {

Complex i_omega_mu(double omega) { return {0.0, omega * mu0}; }

}  // namespace

ModeOperator::ModeOperator(Mode mode, const BandMesh& band)
    : mode_(mode),
      shape_(band.order),
      perfect_conductor_(band.perfect_conductor_below),
      sea_conductivity_(1.0 / band.sea_resistivity_ohm_m),
      n_rows_(band.mesh.n_earth()),
      n_columns_(band.mesh.n_y()) {
  const fem::QuadMesh& mesh = band.mesh;
  const fem::QuadMesh lattice = band.order == 1 ? mesh : mesh.refined();
  for (int column = 0; column < n_columns_; ++column) {
    width_.push_back(mesh.y(column + 1) - mesh.y(column));
    for (int row = 0; row < n_rows_; ++row) add_cell(earth_, mesh, lattice, mesh.ground() + row, column);
    if (mode_ == Mode::te) {
      for (int row = 0; row < mesh.n_air(); ++row) add_cell(air_, mesh, lattice, row, column);
    }
    if (mesh.is_land(column) && mesh.is_land(column + 1)) continue;
    for (int row = mesh.n_air(); row < mesh.ground(); ++row) add_cell(sea_, mesh, lattice, row, column);
  }
  number_unknowns(lattice);
  build_pattern();
  for (Cells* cells : {&earth_, &air_, &sea_}) find_places(*cells);
}

void ModeOperator::add_cell(Cells& cells, const fem::QuadMesh& mesh, const fem::QuadMesh& lattice, int row,
                            int column) const {
  const int p = shape_.order();
  for (int i = 0; i <= p; ++i) {
    for (int j = 0; j <= p; ++j) cells.nodes.push_back(lattice.node(p * row + i, p * column + j));
  }
  const std::size_t first = cells.integrals.size();
  cells.integrals.resize(first + 3 * static_cast<std::size_t>(shape_.n_pairs()));
  shape_.integrate(
      mesh.y(column + 1) - mesh.y(column),
      {mesh.z(row, column), mesh.z(row, column + 1), mesh.z(row + 1, column), mesh.z(row + 1, column + 1)},
      cells.integrals.data() + first);
}

void ModeOperator::number_unknowns(const fem::QuadMesh& lattice) {
  free_.assign(lattice.n_nodes(), -1);
  const int first = mode_ == Mode::te ? 0 : lattice.n_air() + 1;
  const int last = mode_ == Mode::te && perfect_conductor_ ? lattice.n_z() - 1 : lattice.n_z();
  for (int iy = 0; iy <= lattice.n_y(); ++iy) {
    const bool land = lattice.is_land(iy);
    for (int iz = first; iz <= last; ++iz) {
      const int node = lattice.node(iz, iy), unknown = n_free_++;
      const bool coincides =
          land && iz > lattice.n_air() && iz <= lattice.ground();  // with the node above it
      free_[node] = coincides ? (iz > first ? free_[node - 1] : -1) : unknown;
      if (coincides) unused_.push_back(unknown);
    }
    top_nodes_.push_back(lattice.node(0, iy));
  }
}

void ModeOperator::build_pattern() {
  std::vector<std::vector<int>> rows(n_free_);
  const int n = shape_.n_nodes();
  for (const Cells* cells : {&earth_, &air_, &sea_}) {
    for (int cell = 0; cell < cells->size(n); ++cell) {
      for (const int a : cells->nodes_of(cell, n)) {
        for (const int b : cells->nodes_of(cell, n)) {
          if (free_[a] >= 0 && free_[b] >= 0) rows[free_[a]].push_back(free_[b]);
        }
      }
    }
  }
  for (const int unknown : unused_) rows[unknown].push_back(unknown);
  pattern_.row_start.assign(1, 0);
  for (auto& row : rows) {
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    pattern_.column.insert(pattern_.column.end(), row.begin(), row.end());
    pattern_.row_start.push_back(static_cast<int>(pattern_.column.size()));
  }
}

void ModeOperator::find_places(Cells& cells) const {
  const int n = shape_.n_nodes();
  for (int cell = 0; cell < cells.size(n); ++cell) {
    for (const int a : cells.nodes_of(cell, n)) {
      const int row = free_[a];
      for (const int b : cells.nodes_of(cell, n)) {
        const int column = free_[b];
        if (row < 0 || column < 0) {
          cells.places.push_back(-1);
          continue;
        }
        const auto begin = pattern_.column.begin() + pattern_.row_start[row],
                   end = pattern_.column.begin() + pattern_.row_start[row + 1];
        cells.places.push_back(
            static_cast<int>(std::lower_bound(begin, end, column) - pattern_.column.begin()));
      }
    }
  }
}

Complex ModeOperator::bottom_coefficient(double omega, double property) const {
  return std::sqrt(i_omega_mu(omega) * property);  // TE: k = √(iωμσ); TM: ρk = √(iωμρ)
}

ModeOperator::ElementMatrix ModeOperator::combine(const Cells& cells, int cell, double factor_y,
                                                  double factor_z, Complex mass) const {
  const int n = shape_.n_nodes(), pairs = shape_.n_pairs();
  const double* integrals = cells.integrals.data() + 3 * static_cast<std::size_t>(cell) * pairs;
  ElementMatrix result(n, n);
  for (int a = 0, p = 0; a < n; ++a) {
    for (int b = a; b < n; ++b, ++p) {
      const Complex value =
          factor_y * integrals[p] + factor_z * integrals[pairs + p] + mass * integrals[2 * pairs + p];
      result(a, b) = value;
      result(b, a) = value;
    }
  }
  return result;
}

ModeOperator::ElementMatrix ModeOperator::element(int cell, double omega,
                                                  const Eigen::MatrixXd& properties) const {
  return mode_ == Mode::te
             ? combine(earth_, cell, 1.0, 1.0, i_omega_mu(omega) * properties(cell, 0))
             : combine(earth_, cell, properties(cell, 1), properties(cell, 0), i_omega_mu(omega));
}

ModeOperator::ElementMatrix ModeOperator::known_element(const Cells& cells, int cell, double omega,
                                                        double conductivity) const {
  return mode_ == Mode::te ? combine(cells, cell, 1.0, 1.0, i_omega_mu(omega) * conductivity)
                           : combine(cells, cell, 1.0 / conductivity, 1.0 / conductivity, i_omega_mu(omega));
}

ModeOperator::ElementVector ModeOperator::element_derivative(int cell, int property, double omega,
                                                             const Eigen::MatrixXd& properties,
                                                             const Eigen::VectorXcd& field,
                                                             bool with_bottom) const {
  const int n = shape_.n_nodes(), pairs = shape_.n_pairs();
  const int block = mode_ == Mode::te ? 2 : (property == 0 ? 1 : 0);
  const double* integrals = earth_.integrals.data() + (3 * static_cast<std::size_t>(cell) + block) * pairs;
  const auto nodes = cell_nodes(cell);
  ElementVector result = ElementVector::Zero(n);
  for (int a = 0, p = 0; a < n; ++a) {
    result[a] += integrals[p++] * field[nodes[a]];
    for (int b = a + 1; b < n; ++b, ++p) {
      result[a] += integrals[p] * field[nodes[b]];
      result[b] += integrals[p] * field[nodes[a]];
    }
  }
  if (mode_ == Mode::te) result *= i_omega_mu(omega);
  if (with_bottom && property == 0 && is_bottom(cell)) {
    const double value = properties(cell, 0);
    const Complex change = bottom_coefficient(omega, value) * (width_of(cell) / (2.0 * value));
    for (int a = 0; a <= shape_.order(); ++a) {
      for (int b = 0; b <= shape_.order(); ++b)
        result[bottom_node() + a] += change * shape_.edge_mass(a, b) * field[nodes[bottom_node() + b]];
    }
  }
  return result;
}

std::vector<Complex> ModeOperator::matrix(double omega, const Eigen::MatrixXd& properties) const {
  std::vector<Complex> values(pattern_.column.size());
  const int n = shape_.n_nodes();
  const auto scatter = [&](const Cells& cells, int cell,
                           const ElementMatrix& element) {  // symmetric, so columns may stand for rows
    const int* places = cells.places.data() + static_cast<std::size_t>(cell) * n * n;
    for (int k = 0; k < n * n; ++k) {
      if (places[k] >= 0) values[places[k]] += element.data()[k];
    }
  };
  for (int cell = 0; cell < air_.size(n); ++cell) scatter(air_, cell, known_element(air_, cell, omega, 0.0));
  for (int cell = 0; cell < sea_.size(n); ++cell)
    scatter(sea_, cell, known_element(sea_, cell, omega, sea_conductivity_));
  for (int cell = 0; cell < n_cells(); ++cell) {
    ElementMatrix whole = element(cell, omega, properties);
    if (is_bottom(cell)) {
      const Complex edge = bottom_coefficient(omega, properties(cell, 0)) * width_of(cell);
      for (int a = 0; a <= shape_.order(); ++a) {
        for (int b = 0; b <= shape_.order(); ++b)
          whole(bottom_node() + a, bottom_node() + b) += edge * shape_.edge_mass(a, b);
      }
    }
    scatter(earth_, cell, whole);
  }
  for (const int unknown : unused_) values[pattern_.row_start[unknown]] = 1.0;
  return values;
}

Eigen::VectorXcd ModeOperator::right_hand_side(double omega, const Eigen::MatrixXd& properties) const {
  Eigen::VectorXcd rhs = Eigen::VectorXcd::Zero(n_free_);
  const int n = shape_.n_nodes(), p = shape_.order();
  if (mode_ == Mode::te) {  // unit H_y enters through the top: ∮ ∂E/∂n φ = iωμ ∫ φ
    for (int column = 0; column < n_columns_; ++column) {
      for (int a = 0; a <= p; ++a)
        rhs[free_[top_nodes_[p * column + a]]] += i_omega_mu(omega) * width_[column] * shape_.edge_load(a);
    }
    return rhs;
  }
  // H = 1 on the surface moves to the right-hand side.
  const auto move = [&](std::span<const int> nodes, const ElementMatrix& matrix) {
    for (int a = 0; a < n; ++a) {
      const int row = free_[nodes[a]];
      for (int b = 0; b < n && row >= 0; ++b) {
        if (free_[nodes[b]] < 0) rhs[row] -= matrix(a, b);
      }
    }
  };
  for (int cell = 0; cell < n_cells(); cell += n_rows_)
    move(cell_nodes(cell), element(cell, omega, properties));
  for (int cell = 0; cell < sea_.size(n); ++cell)
    move(sea_.nodes_of(cell, n), known_element(sea_, cell, omega, sea_conductivity_));
  return rhs;
}

Eigen::VectorXcd ModeOperator::field(const Eigen::VectorXcd& unknowns) const {
  const Complex fixed = mode_ == Mode::te ? 0.0 : 1.0;
  Eigen::VectorXcd result(n_nodes());
  for (int node = 0; node < n_nodes(); ++node)
    result[node] = free_[node] >= 0 ? unknowns[free_[node]] : fixed;
  return result;
}

}  // namespace lodestone::physics::mt::d2
