// SPDX-License-Identifier: Apache-2.0
// Private to physics/mt: where a section requires small cells.
#pragma once

#include "physics/fem/graded_lines.hpp"
#include "physics/mt/d2/mesh_design.hpp"

#include <vector>

namespace lodestone::physics::mt::d2 {

/// The frequencies of a band.
struct BandRange {
  double min_frequency_hz, max_frequency_hz;
};

/// The depths of rows of the earth. They are counted by their depth under the lowest point of the surface.
/// On a draped grid the rows follow the surface all the way down; on others they level out, and a row lies
/// deeper by `height` under a surface that stands `height` above its lowest point. Rows above `level_depth_m`
/// share that.
struct RowLevels {
  bool draped = true;
  double level_depth_m = 1.0;  ///< rows from here on are level

  /// Returns the stretch of rows above `level_depth_m`.
  [[nodiscard]] double stretch(double height_m) const {
    return draped ? 1.0 : 1.0 + height_m / level_depth_m;
  }
  /// Returns the depth of a row under the local surface.
  [[nodiscard]] double depth_of(double row_m, double height_m) const {
    return !draped && row_m >= level_depth_m ? row_m + height_m : row_m * stretch(height_m);
  }
  /// Returns the row at a depth under the local surface.
  [[nodiscard]] double row_at(double depth_m, double height_m) const {
    return is_level(depth_m, height_m) ? depth_m - height_m : depth_m / stretch(height_m);
  }
  [[nodiscard]] bool is_level(double depth_m, double height_m) const {
    return !draped && depth_m - height_m >= level_depth_m;
  }
};

/// The features that the mesh of one band must resolve.
struct MeshFeatures {
  std::vector<fem::SizeFeature> y, z;  ///< z: rows, see `levels`
  RowLevels levels;
  std::vector<double> y_anchors, z_anchors;  ///< contacts and interfaces on which lines should lie
  double penetration_m = 0.0;                ///< largest of the stations, lowest frequency
  double bottom_m = 0.0;                     ///< the last row
  double surface_size_m = 0.0;               ///< smallest cell required at the surface
  double sea_depth_m = 0.0;                  ///< depth of the deepest water that matters; 0: none
  double sea_size_m = 0.0;                   ///< largest cell of water that resolves its field
  double first_y_m = 0.0, last_y_m = 0.0;    ///< outermost station, contact or kink that matters
  bool perfect_conductor_below = false;

  /// Returns the features with every size times `factor`.
  [[nodiscard]] MeshFeatures coarsened(double factor) const;
};

/// Collects the features. Sizes are proportional to `options.coarsen`; nothing else depends on it.
[[nodiscard]] MeshFeatures find_features(const mesh::Model& model, const Survey& survey,
                                         const BandRange& band, const MeshDesignOptions& options);

}  // namespace lodestone::physics::mt::d2
