// SPDX-License-Identifier: Apache-2.0
// Private to physics/mt: what stations measure, as rows on the circulations of a forward grid.
#pragma once

#include "physics/fem/relief_grid.hpp"
#include "physics/mt/d3/background.hpp"
#include "physics/mt/d3/relief.hpp"
#include "physics/mt/survey.hpp"

#include <array>
#include <utility>
#include <vector>

namespace lodestone::physics::mt::d3 {

/// The fields of a station, in the order of all lists of them.
enum class Channel { e_x, e_y, h_x, h_y, h_z };
inline constexpr int n_channels = 5;

/// The way from the edges of a grid to a station.
enum class Interpolation {
  cubic,  ///< by polynomials through four places along each axis; E beyond no contact that it crosses
  linear  ///< between the two next ones, beyond contacts as well
};

/// The fields at one station as sparse rows on the circulations; the same at every model.
///
/// E comes from the edges along it on the surface. H comes from the circulation around faces, curl E =
/// −iωμ₀H. H_z comes from those of the surface, horizontal H from the cells of air above. Its change down to
/// the surface is added, `∂_z H_y = ∂_y H_z` and `∂_z H_x = ∂_x H_z`.
class Receiver {
 public:
  /// `top_resistivity`: resistivities (n_x·n_y) of the uppermost cells of the grid below the ground, by which
  /// contacts are known. errors: InvalidArgument when the station stands outside the grid's inner cells.
  Receiver(const fem::EdgeGrid& grid, int ground, const Station& station,
           const Eigen::MatrixXd& top_resistivity, Interpolation interpolation = Interpolation::cubic);

  /// Makes the rows on a relief, for fields of the station's definition. Edges on the surface carry E along
  /// it, and no current leaves the ground: E_z = p E_x + q E_y with its slopes p, q. H is extrapolated down
  /// through the three layers above. Sensors parallel to the slope point along its rise to x and to y.
  ///
  /// Under water, coasts are contacts of E. With at least two whole layers of it, those of the ground are
  /// none, and E_z is that of the water; this and H come from as many layers of it, at most three. In water
  /// that is shallower H comes from three layers below.
  Receiver(const fem::ReliefGrid& grid, int ground, const Station& station,
           const Eigen::MatrixXd& top_resistivity, const Water& water,
           Interpolation interpolation = Interpolation::cubic);

  /// Returns a field. units: V/m and A/m for circulations in V.
  [[nodiscard]] Complex measure(Channel channel, double omega, const Eigen::VectorXcd& circulation) const;
  /// Adds weight times the row of a field to a vector over the edges.
  void add_row(Channel channel, double omega, Complex weight, Eigen::Ref<Eigen::VectorXcd> edges) const;

 private:
  using Row = std::vector<std::pair<Eigen::Index, double>>;
  [[nodiscard]] static Complex factor(Channel channel, double omega);
  std::array<Row, n_channels> rows_;  ///< rows of H lack the factor i/(ωμ₀)
};

}  // namespace lodestone::physics::mt::d3
