// SPDX-License-Identifier: Apache-2.0
// Private to physics/mt: fields that are known before a 3-D problem is solved.
#pragma once

#include "physics/fem/relief_grid.hpp"
#include "physics/mt/d3/edge_averages.hpp"

#include <complex>

namespace lodestone::physics::mt::d3 {

using Complex = std::complex<double>;

/// The direction of the electric field of a source above a layered earth.
enum class Polarization { x, y };
inline constexpr int n_polarizations = 2;

/// Returns the resistivities of a layered earth on the parameter grid: of each layer the geometric mean over
/// its outermost cells. shape: (n_cells).
[[nodiscard]] Eigen::VectorXd layered_resistivity(const mesh::TensorGrid& grid,
                                                  const Eigen::VectorXd& resistivity);

/// Returns the circulation of a layered field that the discrete operator of the grid maps to zero. E is 1 at
/// the top and 0 at the bottom. shapes: masses of a layered earth (n_edges) → (n_edges).
[[nodiscard]] Eigen::VectorXcd layered_field(const fem::EdgeGrid& grid, const Eigen::VectorXd& masses,
                                             double omega, Polarization polarization);

/// Returns what the field on the boundary is beyond the layered one; zero elsewhere. Two sides carry the
/// field of the vertical sections there, each solved as a grid of one cell in its strike direction; the other
/// two have no tangential field, and the top is linear between the sections. `layered`: its resistivities on
/// the parameter grid. shape: (n_edges). errors: SolverError.
[[nodiscard]] Eigen::VectorXcd boundary_difference(const mesh::Earth& earth,
                                                   const Eigen::VectorXd& resistivity,
                                                   const Eigen::VectorXd& layered, const fem::EdgeGrid& grid,
                                                   double omega, Polarization polarization);

/// Returns the whole field on the boundary of a relief, zero elsewhere: from sections on the sides likewise,
/// whose source is the same magnetic field at the top. shapes: conductivities (n_cells) → (n_edges). errors:
/// SolverError.
[[nodiscard]] Eigen::VectorXcd boundary_field(const fem::ReliefGrid& grid,
                                              const Eigen::VectorXd& conductivities, double omega,
                                              Polarization polarization);

}  // namespace lodestone::physics::mt::d3
