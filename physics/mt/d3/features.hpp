// SPDX-License-Identifier: Apache-2.0
// Private to physics/mt, what a forward mesh must resolve before lines are drawn.
#pragma once

#include "physics/fem/graded_lines.hpp"
#include "physics/mt/d1/layered.hpp"
#include "physics/mt/d3/mesh_design.hpp"

#include <array>
#include <vector>

namespace lodestone::physics::mt::d3 {

/// Places along each axis that require small cells, lines that should be kept, and the extents of a band.
struct MeshFeatures {
  std::array<std::vector<fem::SizeFeature>, 3> sizes;
  std::array<std::vector<double>, 3> anchors;
  std::array<std::vector<double>, 3> kept;  ///< lines of the parameter grid that are lines of the mesh
  std::array<mesh::Interval, 2> extent;     ///< range of stations and contacts along x and y
  double penetration_m = 0.0;               ///< at the lowest frequency
  double bottom_m = 0.0;
  double least_air_m = 0.0;                   ///< height of air that the relief needs
  double sea_depth_m = 0.0;                   ///< depth of the deepest water, 0 without a sea
  std::vector<fem::SizeFeature> sea_sizes{};  ///< sizes of the layers of the deepest water, z < 0
};

/// Finds them for the frequencies of a band. z counts from the surface.
[[nodiscard]] MeshFeatures find_features(const mesh::Model& model, const Survey& survey, double lowest_hz,
                                         double highest_hz, const MeshDesignOptions& options);

/// Returns the depth of the surface in the coordinates of the parameter grid.
[[nodiscard]] double level_of(const mesh::Earth& earth);
/// Returns the layers of one column of a parameter grid, from the surface down. shape: resistivity (n_cells).
[[nodiscard]] d1::LayeredEarth layers_of(const mesh::Earth& earth, const Eigen::VectorXd& resistivity, int ix,
                                         int iy);

}  // namespace lodestone::physics::mt::d3
