// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d2/cell_averages.hpp"

#include <algorithm>

namespace lodestone::physics::mt::d2 {

std::vector<CellAverages::Overlap> CellAverages::overlaps(const std::vector<double>& edges, double low,
                                                          double high) {
  const int n = static_cast<int>(edges.size()) - 1;
  std::vector<Overlap> result;
  for (int i = 0; i < n; ++i) {
    const double begin =
        i == 0 ? std::min(low, edges.front()) : edges[i];  // outermost cells continue without end
    const double end = i == n - 1 ? std::max(high, edges.back()) : edges[i + 1];
    const double shared = std::min(high, end) - std::max(low, begin);
    if (shared > 0.0) result.push_back({i, shared / (high - low)});
  }
  return result;
}

CellAverages::CellAverages(const mesh::Earth& earth, const fem::QuadMesh& mesh)
    : n_rows_(mesh.n_earth()), n_grid_y_(earth.grid.n_y()) {
  const mesh::TensorGrid& grid = earth.grid;
  const mesh::SurfaceLine& surface = earth.surface.profile();
  const bool draped = grid.reference() == mesh::DepthReference::surface;
  z_overlaps_.reserve(static_cast<std::size_t>(mesh.n_y()) * n_rows_);
  for (int column = 0; column < mesh.n_y(); ++column) {
    y_overlaps_.push_back(overlaps(grid.y_edges_m(), mesh.y(column), mesh.y(column + 1)));
    const double zero =
        draped ? 0.5 * (surface.z_at(mesh.y(column)) + surface.z_at(mesh.y(column + 1))) : 0.0;
    for (int row = 0; row < n_rows_; ++row) {
      const int top = mesh.ground() + row;
      const double low = 0.5 * (mesh.z(top, column) + mesh.z(top, column + 1)) - zero;
      const double high = 0.5 * (mesh.z(top + 1, column) + mesh.z(top + 1, column + 1)) - zero;
      z_overlaps_.push_back(overlaps(grid.z_edges_m(), low, high));
    }
  }
}

template <class Visit>
void CellAverages::visit_strike(const Eigen::VectorXd& resistivity, Visit visit) const {
  for (int cell = 0; cell < n_cells(); ++cell) {
    for (const auto& [iy, wy] : y_overlaps_[cell / n_rows_]) {
      for (const auto& [iz, wz] : z_overlaps_[cell]) {
        const int j = iz * n_grid_y_ + iy;
        visit(cell, j, -wy * wz / (resistivity[j] * resistivity[j]));
      }
    }
  }
}

template <class Visit>
void CellAverages::visit_section(const Eigen::VectorXd& resistivity, Visit visit) const {
  for (int cell = 0; cell < n_cells(); ++cell) {
    double sigma_zz = 0.0;
    for (const auto& [iy, wy] : y_overlaps_[cell / n_rows_]) {
      double rho_column = 0.0;
      for (const auto& [iz, wz] : z_overlaps_[cell]) rho_column += wz * resistivity[iz * n_grid_y_ + iy];
      sigma_zz += wy / rho_column;
    }
    for (const auto& [iy, wy] : y_overlaps_[cell / n_rows_]) {
      double sigma_column = 0.0, rho_column = 0.0;
      for (const auto& [iz, wz] : z_overlaps_[cell]) {
        sigma_column += wz / resistivity[iz * n_grid_y_ + iy];
        rho_column += wz * resistivity[iz * n_grid_y_ + iy];
      }
      for (const auto& [iz, wz] : z_overlaps_[cell]) {
        const int j = iz * n_grid_y_ + iy;
        const double d_yy = wy * wz / (sigma_column * sigma_column * resistivity[j] * resistivity[j]);
        const double d_zz = wy * wz / (sigma_zz * sigma_zz * rho_column * rho_column);
        visit(cell, j, d_yy, d_zz);
      }
    }
  }
}

Eigen::MatrixXd CellAverages::strike_conductivity(const Eigen::VectorXd& resistivity) const {
  Eigen::MatrixXd sigma = Eigen::MatrixXd::Zero(n_cells(), 1);
  visit_strike(resistivity,
               [&](int cell, int j, double derivative) { sigma(cell, 0) -= derivative * resistivity[j]; });
  return sigma;
}

Eigen::MatrixXd CellAverages::section_resistivity(const Eigen::VectorXd& resistivity) const {
  // Both averages are homogeneous of degree one, so Euler's theorem gives them from their derivatives.
  Eigen::MatrixXd rho = Eigen::MatrixXd::Zero(n_cells(), 2);
  visit_section(resistivity, [&](int cell, int j, double d_yy, double d_zz) {
    rho(cell, 0) += d_yy * resistivity[j];
    rho(cell, 1) += d_zz * resistivity[j];
  });
  return rho;
}

void CellAverages::add_strike_transposed(const Eigen::VectorXd& resistivity,
                                         const std::vector<Eigen::MatrixXd>& weights,
                                         Eigen::MatrixXd& out) const {
  visit_strike(resistivity, [&](int cell, int j, double derivative) {
    out.col(j).noalias() += derivative * weights[0].col(cell);
  });
}

void CellAverages::add_section_transposed(const Eigen::VectorXd& resistivity,
                                          const std::vector<Eigen::MatrixXd>& weights,
                                          Eigen::MatrixXd& out) const {
  visit_section(resistivity, [&](int cell, int j, double d_yy, double d_zz) {
    out.col(j).noalias() += d_yy * weights[0].col(cell) + d_zz * weights[1].col(cell);
  });
}

std::vector<Eigen::MatrixXd> CellAverages::strike_change(const Eigen::VectorXd& resistivity,
                                                         const Eigen::MatrixXd& directions) const {
  std::vector<Eigen::MatrixXd> change(1, Eigen::MatrixXd::Zero(n_cells(), directions.cols()));
  visit_strike(resistivity, [&](int cell, int j, double derivative) {
    change[0].row(cell) += derivative * directions.row(j);
  });
  return change;
}

std::vector<Eigen::MatrixXd> CellAverages::section_change(const Eigen::VectorXd& resistivity,
                                                          const Eigen::MatrixXd& directions) const {
  std::vector<Eigen::MatrixXd> change(2, Eigen::MatrixXd::Zero(n_cells(), directions.cols()));
  visit_section(resistivity, [&](int cell, int j, double d_yy, double d_zz) {
    change[0].row(cell) += d_yy * directions.row(j);
    change[1].row(cell) += d_zz * directions.row(j);
  });
  return change;
}

}  // namespace lodestone::physics::mt::d2
