// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/outcome.hpp"
#include "io/report/canvas.hpp"
#include "io/report/map_sheet.hpp"
#include "io/report/slice_drawing.hpp"
#include "physics/mesh/slice.hpp"

#include <vector>

namespace lodestone::io::report {

/// The slices by which pictures show a volume.
struct VolumeSlices {
  MapExtent extent{};                              ///< part of the maps: the sites and a margin
  std::vector<int> layers{};                       ///< layers of the maps, from the top
  std::vector<physics::mesh::VerticalCut> cuts{};  ///< along y, then along x, within the extent
  double max_depth_m = 0.0;                        ///< lower end of the vertical slices, z of the grid
  double sites_within_m = 0.0;                     ///< largest distance of the sites on a vertical slice
};

/// Slices that a reader asks for. A list without numbers leaves its choice to `slices_of`; where only one of
/// `x_m` and `y_m` has numbers, there are no cuts of the other kind.
struct WantedSlices {
  std::vector<double> depths_m{};  ///< depths of maps below the top of the earth
  std::vector<double> x_m{};       ///< places of vertical slices along y
  std::vector<double> y_m{};       ///< places of vertical slices along x
  [[nodiscard]] bool any() const { return !depths_m.empty() || !x_m.empty() || !y_m.empty(); }
};

/// Chooses slices of the final model of an outcome, among them at most six layers whose depths grow by a
/// factor. What is wanted goes before. errors: InvalidArgument unless the model is a volume, and for places
/// beyond its cells.
///
/// The first layer lies at a quarter of the skin depth of the shortest period used. The last one is the
/// deepest in which the posterior finds a tenth of the cells of the extent investigated. Without a posterior
/// it lies at one skin depth of the longest period. Skin depths take the mean of log10 resistivity in each
/// layer. It is not deeper than `deepest_part` of the extent, to which layers reach without periods. Each
/// vertical slice follows the line along y or x that most sites are near; the line nearest to the median wins
/// a tie.
[[nodiscard]] VolumeSlices slices_of(const inversion::Outcome& outcome, const WantedSlices& wanted = {});

/// Returns the colours that all slices of an outcome share. errors: as `horizontal_slices_picture`.
[[nodiscard]] CellColours colours_of(const inversion::Outcome& outcome, const VolumeSlices& slices,
                                     const PictureChoices& choices = {});

/// Draws maps of the final model with the colours of `vertical_slices_picture`. Sites are dots; the first map
/// has their names as far as they fit, and the lines of the vertical slices.
/// errors: InvalidArgument unless the model is a volume, without layers, and for a layer that it lacks.
[[nodiscard]] Canvas horizontal_slices_picture(const inversion::Outcome& outcome, const VolumeSlices& slices,
                                               const PictureChoices& choices = {});
/// Draws the final model along all vertical slices, with the sites near them. errors: as
/// `horizontal_slices_picture`.
[[nodiscard]] Canvas vertical_slices_picture(const inversion::Outcome& outcome, const VolumeSlices& slices,
                                             const PictureChoices& choices = {});

}  // namespace lodestone::io::report
