// SPDX-License-Identifier: Apache-2.0
// Private to physics/mt: where a section asks for small cells.
#pragma once

#include "physics/mesh/graded_lines.hpp"
#include "physics/mt/mesh_design.hpp"

#include <vector>

namespace lodestone::physics::mt {

/// The frequencies of a band.
struct BandRange {
  double min_frequency_hz, max_frequency_hz;
};

/// What the mesh of one band must resolve.
struct MeshFeatures {
  std::vector<mesh::SizeFeature> y, z;       ///< z: depth below the surface of the solid earth
  std::vector<double> y_anchors, z_anchors;  ///< contacts and interfaces on which lines should lie
  double penetration_m = 0.0;                ///< largest of the stations, lowest frequency
  double bottom_m = 0.0;                     ///< depth of the mesh below the surface
  double surface_size_m = 0.0;               ///< smallest cell asked for at the surface
  double sea_depth_m = 0.0;                  ///< of the deepest water that matters; 0: none
  double sea_size_m = 0.0;                   ///< largest cell of water that resolves its field
  double first_y_m = 0.0, last_y_m = 0.0;    ///< outermost station, contact or kink that matters
  bool perfect_conductor_below = false;
};

[[nodiscard]] MeshFeatures find_features(const mesh::Section2D& section, const Survey2D& survey, const BandRange& band,
                                         const MeshDesignOptions& options);

}  // namespace lodestone::physics::mt
