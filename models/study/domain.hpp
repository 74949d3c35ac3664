// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/prior/subdomain_map.hpp"
#include "physics/mesh/earth.hpp"
#include "physics/mesh/shapes.hpp"

#include <vector>

namespace lodestone::models::study {

/// The fineness of a domain: 100 columns, or fewer for many tests in a row.
struct DomainCells {
  double column_m = 100.0;
  int n_side = 12, n_below = 24;
  double side_growth = 1.45, below_growth = 1.18;
};
/// Less than half of the unknowns.
inline constexpr DomainCells light_cells{
    .column_m = 200.0, .n_side = 8, .n_below = 12, .side_growth = 1.6, .below_growth = 1.4};

/// The cells of a study. The domain of interest is 10 km × 0.94 km: columns of 100 m, 64 layers from 5 m
/// growing by 1.03; around it growing columns on either side and layers below are unknowns too. The region of
/// interest has a prior. It lies 3 to 7 km along the profile and 204 to 787 m deep (layers 27 to 58, from 0).
class Domain {
 public:
  explicit Domain(const DomainCells& cells = {});

  [[nodiscard]] const physics::mesh::TensorGrid& grid() const { return grid_; }
  [[nodiscard]] const std::vector<Eigen::Index>& domain_cells() const { return domain_; }
  [[nodiscard]] const std::vector<Eigen::Index>& region_cells() const { return region_; }
  [[nodiscard]] physics::mesh::Box region() const;
  [[nodiscard]] std::vector<double> region_depths_m() const;  ///< interfaces, 33
  /// Returns the region as an image. shapes: (n_cells) → (32, 40), with columns of 100 m.
  [[nodiscard]] Eigen::MatrixXd image_of_region(const Eigen::VectorXd& model) const;
  /// Returns log10 resistivities in the cells of the grid, shape (n_cells), as a section.
  [[nodiscard]] physics::mesh::Model section(const Eigen::VectorXd& log10_rho) const;
  /// Returns the mean over each cell's area of the log10 resistivity of a section, which may have any grid.
  /// shape: (n_cells).
  [[nodiscard]] Eigen::VectorXd on_grid(const physics::mesh::Model& section) const;
  /// Returns the region cut into columns, or into patches that overlap by half and are blended linearly.
  /// errors: InvalidArgument where the cells of the subdomain are not those of the grid.
  [[nodiscard]] inversion::prior::Region subdomains(const physics::mesh::TensorGrid& subdomain,
                                                    inversion::prior::DecoderPtr decoder) const;

 private:
  int region_columns_;
  double column_m_;
  physics::mesh::TensorGrid grid_;
  std::vector<Eigen::Index> domain_, region_;
};

}  // namespace lodestone::models::study
