// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one format, the only one for maps alone.
#pragma once

#include "io/model/read.hpp"

#include <optional>
#include <string>
#include <vector>

namespace lodestone::io::model {

/// The choices of maps of a volume.
struct DepthMapOptions {
  std::string system{};             ///< projected system of the map; empty: that of the model's frame
  std::vector<double> depths_m{};   ///< below the surface, a band each
  std::optional<double> pixel_m{};  ///< absent: the least width of cells
};

/// Writes log10 of the resistivity at depths below the surface as a GeoTIFF, a band for each depth. Pixels
/// take the cell that holds their centre, and are NaN beside the grid. Returns in words what the file does
/// not hold. errors: FileError; InvalidArgument for a section, a model without a place on the map, no depth,
/// depths outside the grid, and too many pixels.
[[nodiscard]] std::vector<std::string> write_depth_maps(const std::string& path, const PlacedModel& placed,
                                                        const DepthMapOptions& options);

}  // namespace lodestone::io::model
