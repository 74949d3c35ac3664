// SPDX-License-Identifier: Apache-2.0
#include "models/study/domain.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::models::study {
namespace {

using Eigen::Index;
using physics::mesh::TensorGrid;

constexpr int n_layers = 64, region_row = 27, region_rows = 32;
constexpr double length_m = 10000.0, region_from_m = 3000.0, region_to_m = 7000.0, layer_m = 5.0,
                 layer_growth = 1.03;

int count(double length, double cell) { return static_cast<int>(std::lround(length / cell)); }

std::vector<double> columns(const DomainCells& cells) {
  std::vector<double> outwards;  // distances of the padding's edges from the domain
  double width = cells.column_m, sum = 0.0;
  for (int i = 0; i < cells.n_side; ++i) outwards.push_back(sum += width *= cells.side_growth);
  std::vector<double> edges;
  for (int i = cells.n_side; i-- > 0;) edges.push_back(-outwards[static_cast<std::size_t>(i)]);
  for (int i = 0; i <= count(length_m, cells.column_m); ++i) edges.push_back(cells.column_m * i);
  for (const double each : outwards) edges.push_back(length_m + each);
  return edges;
}

std::vector<double> rows(const DomainCells& cells) {
  std::vector<double> edges = physics::mesh::geometric_edges_m(layer_m, layer_growth, n_layers);
  double thickness = edges.back() - edges[edges.size() - 2];
  for (int i = 0; i < cells.n_below; ++i) edges.push_back(edges.back() + (thickness *= cells.below_growth));
  return edges;
}

std::vector<Index> cells_of(const TensorGrid& grid, int first_row, int n_rows, int first_column, int n) {
  std::vector<Index> cells;
  for (int iz = first_row; iz < first_row + n_rows; ++iz) {
    for (int iy = first_column; iy < first_column + n; ++iy) cells.push_back(grid.index(iz, iy));
  }
  return cells;
}

/// Returns the share of each interval `to` that lies in each of `from`, whose first and last interval go on
/// without end. shape: (n_to, n_from).
Eigen::MatrixXd shares(const std::vector<double>& to, const std::vector<double>& from) {
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(std::ssize(to) - 1, std::ssize(from) - 1);
  for (std::size_t i = 0; i + 1 < to.size(); ++i) {
    for (std::size_t j = 0; j + 1 < from.size(); ++j) {
      const double low = j == 0 ? to[i] : std::max(to[i], from[j]);
      const double high = j + 2 == from.size() ? to[i + 1] : std::min(to[i + 1], from[j + 1]);
      result(static_cast<Index>(i), static_cast<Index>(j)) = std::max(0.0, high - low) / (to[i + 1] - to[i]);
    }
  }
  return result;
}

/// Returns weights that fall linearly to the sides. There they keep a little, so that a cell of one patch
/// alone has a weight.
Eigen::VectorXd taper(Index n_z, Index n_y) {
  Eigen::RowVectorXd of_column(n_y);
  for (Index i = 0; i < n_y; ++i)
    of_column[i] = 0.05 + std::min(static_cast<double>(i) + 0.5, static_cast<double>(n_y - i) - 0.5);
  return of_column.replicate(1, n_z).transpose();
}

}  // namespace

Domain::Domain(const DomainCells& cells)
    : region_columns_(count(region_to_m - region_from_m, cells.column_m)),
      column_m_(cells.column_m),
      grid_(physics::mesh::TensorGrid::section(columns(cells), rows(cells))),
      domain_(cells_of(grid_, 0, n_layers, cells.n_side, count(length_m, cells.column_m))),
      region_(cells_of(grid_, region_row, region_rows, grid_.column_of(region_from_m + 0.5 * cells.column_m),
                       region_columns_)) {}

physics::mesh::Box Domain::region() const {
  const auto depth_m = region_depths_m();
  return {.y_m = {region_from_m, region_to_m}, .z_m = {depth_m.front(), depth_m.back()}};
}

std::vector<double> Domain::region_depths_m() const {
  const auto first = grid_.z_edges_m().begin() + region_row;
  return {first, first + region_rows + 1};
}

Eigen::MatrixXd Domain::image_of_region(const Eigen::VectorXd& model) const {
  return model(region_).reshaped<Eigen::RowMajor>(region_rows, region_columns_);
}

physics::mesh::Model Domain::section(const Eigen::VectorXd& log10_rho) const {
  return physics::mesh::resistivity_model({grid_}, Eigen::pow(10.0, log10_rho.array()));
}

Eigen::VectorXd Domain::on_grid(const physics::mesh::Model& section) const {
  const physics::mesh::TensorGrid& from = section.earth.grid;
  const Eigen::MatrixXd log10_rho =
      log10_resistivity(section).reshaped<Eigen::RowMajor>(from.n_z(), from.n_y());
  const Eigen::MatrixXd mean = shares(grid_.z_edges_m(), from.z_edges_m()) * log10_rho *
                               shares(grid_.y_edges_m(), from.y_edges_m()).transpose();
  return mean.reshaped<Eigen::RowMajor>();
}

inversion::prior::Region Domain::subdomains(const physics::mesh::TensorGrid& subdomain,
                                            inversion::prior::DecoderPtr decoder) const {
  const auto n_y = static_cast<int>(subdomain.n_y());
  const int stride = std::max(1, n_y / 2);
  if (n_y > 1 && std::abs(subdomain.extent().y_m.length() - column_m_ * n_y) > 1e-6 * column_m_)
    throw core::InvalidArgument(
        "models::study#other_columns",
        "expected a network of columns, or of patches with columns of {:g} m, got patches of {} in {:g} m",
        column_m_, n_y, subdomain.extent().y_m.length());
  if (subdomain.has(physics::mesh::Axis::x) || subdomain.n_z() != region_rows || n_y > region_columns_ ||
      (region_columns_ - n_y) % stride != 0)
    throw core::InvalidArgument("models::study#other_subdomains",
                                "expected subdomains of {} rows whose columns fill the region's {} in steps "
                                "of half their width, got {} × {}{}",
                                region_rows, region_columns_, subdomain.n_z(), n_y,
                                subdomain.has(physics::mesh::Axis::x) ? " of a volume" : "");
  inversion::prior::Region region{"region of interest", std::move(decoder), {}};
  const int from = grid_.column_of(region_from_m + 0.5 * column_m_);
  for (int first = from; first + n_y <= from + region_columns_; first += stride)
    region.subdomains.push_back(cells_of(grid_, region_row, region_rows, first, n_y));
  if (n_y > 1) region.taper = taper(region_rows, n_y);
  return region;
}

}  // namespace lodestone::models::study
