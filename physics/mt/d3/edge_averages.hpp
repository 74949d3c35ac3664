// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"
#include "physics/fem/edge_grid.hpp"
#include "physics/mesh/earth.hpp"

#include <Eigen/Core>

#include <array>
#include <vector>

namespace lodestone::physics::mt::d3 {

inline constexpr double air_conductivity = 1e-10;  ///< S/m; responses do not depend on it

/// Averages of a parameter grid over the edges of a forward grid, and their derivatives.
///
/// The mass of an edge is the conductivity of its dual volume times area over length: the parallel mean
/// across the edge, then the series mean along it (Davydycheva et al. 2003, Geophysics 68, 1525), so that
/// thin layers and narrow columns need not be meshed. Outermost parameter cells continue without end; above
/// the level surface there is air.
class EdgeAverages {
 public:
  /// Prepares the overlaps. The z lines of the grid count from the surface, one of them being 0.
  EdgeAverages(const mesh::Earth& earth, const fem::EdgeGrid& grid);

  /// Returns the mass of each edge, S. shape: (n_edges).
  [[nodiscard]] Eigen::VectorXd masses(const Eigen::VectorXd& resistivity) const;
  /// Returns the derivative of the masses with respect to each resistivity. shape: (n_edges, n_parameters).
  [[nodiscard]] core::SparseRows mass_derivative(const Eigen::VectorXd& resistivity) const;
  /// Returns the mean conductivity of each cell of the grid, S/m. shape: (n_cells).
  [[nodiscard]] Eigen::VectorXd cell_conductivities(const Eigen::VectorXd& resistivity) const;

 private:
  /// A parameter interval (−1: air) and its share of an interval of the grid.
  struct Overlap {
    int index;
    double share;
  };
  using Overlaps = std::vector<std::vector<Overlap>>;
  /// One parallel mean: a piece of the length of an edge.
  struct Piece {
    double share, conductivity;
    int along;
  };
  [[nodiscard]] Overlaps overlaps(int axis, const std::vector<double>& begin,
                                  const std::vector<double>& end) const;
  [[nodiscard]] Eigen::Index parameter(std::array<int, 3> at) const;
  [[nodiscard]] double conductivity(const Eigen::VectorXd& resistivity, const std::array<int, 3>& at) const;
  /// Calls visit(parameter intervals, share of the area across) for a piece of an edge.
  template <class Visit>
  void visit_across(int axis, const std::array<int, 3>& edge, int along, Visit visit) const;
  [[nodiscard]] std::vector<Piece> pieces_of(const Eigen::VectorXd& resistivity, int axis,
                                             const std::array<int, 3>& edge) const;
  [[nodiscard]] double area_over_length(int axis, const std::array<int, 3>& edge) const;

  fem::EdgeGrid grid_;
  std::array<std::vector<double>, 3> parameter_edges_;  ///< inner ones, from the surface down along z
  std::array<int, 3> n_parameters_{};
  std::array<Overlaps, 3> cells_, duals_;
};

}  // namespace lodestone::physics::mt::d3
