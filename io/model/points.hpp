// SPDX-License-Identifier: Apache-2.0
// Small on purpose: sections as tables, which no reader of models needs.
#pragma once

#include "physics/mesh/earth.hpp"

#include <string>
#include <vector>

namespace lodestone::io::model {

/// A section and its name in a file.
struct NamedSection {
  std::string name;  ///< NAME of its column, with spaces for underscores
  physics::mesh::Model section;
};
/// Reads sections given by points: one row per point of a rectangular lattice. The columns are `y_m` or
/// `y_km` (`x_km`, as figures call the distance along a profile), `depth_m` or `depth_km`, and a
/// `log10_rho_NAME` for each section. An empty field is a point without a value (NaN). Cells reach half-way
/// to the next points. errors: FileError, FormatError with file:line (header, number, a point given twice,
/// fewer than two positions or depths).
[[nodiscard]] std::vector<NamedSection> read_sections_csv(const std::string& path);

/// Writes one row per cell in true position, draped on the surface over the middle of its column or cut by
/// it: `y_left_m,y_right_m,z_top_m,z_bottom_m,depth_m,resistivity_ohm_m` (depth of the centre below the
/// surface). Cells above the surface have no row. errors: FileError; InvalidArgument unless the model is a
/// resistivity of a section.
void write_section_csv(const std::string& path, const physics::mesh::Model& section);

}  // namespace lodestone::io::model
