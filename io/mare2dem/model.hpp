// SPDX-License-Identifier: Apache-2.0
// Small on purpose: who reads data needs no model.
#pragma once

#include "physics/mesh/earth.hpp"

#include <string>
#include <string_view>

namespace lodestone::io::mare2dem {

/// A model of MARE2DEM as a section, and what of its file has no place there.
struct MareModel {
  physics::mesh::Model model;
  int n_regions = 0, n_free = 0;  ///< regions, and those of them that an inversion of MARE2DEM varies
  int n_air = 0, n_sea = 0;       ///< regions of air and of the sea
};

/// Reads the resistivities of an isotropic model and the file of segments beside it that it names. y and z
/// are those of the files.
///
/// Regions of 1e9 ohm m and more are air. Fixed ones of at most 1 ohm m below a level contact with air are
/// the sea. The lower edge of both is the surface, node by node. Cells of the section carry the mean
/// conductivity of their part of the ground. Grid lines stand on level and upright edges, and between the
/// ends of slanted ones at distances that grow with depth. Which regions are free, their bounds, prejudices
/// and the penalties are not kept. errors: FileError; FormatError with file:line (anisotropy, missing
/// entries, other counts, resistivities out of range, ground without a region, a surface that turns back).
[[nodiscard]] MareModel read_model_file(const std::string& path);
/// Returns the model alone, with a warning in the log on what is left out.
[[nodiscard]] physics::mesh::Model read_model(const std::string& path);

/// Returns whether the bytes start a `.resistivity` file.
[[nodiscard]] bool is_resistivity(std::string_view bytes);

}  // namespace lodestone::io::mare2dem
