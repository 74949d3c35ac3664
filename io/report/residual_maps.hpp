// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/outcome.hpp"
#include "io/report/canvas.hpp"

#include <string>
#include <vector>

namespace lodestone::io::report {

/// Residuals of one type of datum on maps.
struct ResidualSheet {
  std::string name;   ///< for files, "impedance"
  std::string title;  ///< "Impedance"
  Canvas picture;
};

/// Draws maps of the sites with their residuals, (observed − predicted) in errors, on a sheet per type of
/// datum: impedances, apparent resistivities with phases, tippers, phase tensors, others.
///
/// A sheet has a row per datum (Re Zxx, Im Zxx …) and up to four columns: periods from the shortest to the
/// longest that have data at half as many sites as the best one. The title of a map gives its rms. Sites
/// without a datum that is used are small and grey. Nothing where the key of the data lacks quantity, site or
/// period, or sites lack places on the map. errors: InvalidArgument unless the model is a volume.
[[nodiscard]] std::vector<ResidualSheet> residual_maps(const inversion::Outcome& outcome);

/// Draws the rms of each site on maps: of all its data, and of each type. The picture is empty (no height)
/// where `residual_maps` returns nothing. errors: as `residual_maps`.
[[nodiscard]] Canvas site_misfit_maps(const inversion::Outcome& outcome);

/// Draws what distortion matrices differ from the identity by, a map per entry in the places of the matrix.
/// The picture is empty (no height) without a table "distortion". errors: as `residual_maps`.
[[nodiscard]] Canvas distortion_maps(const inversion::Outcome& outcome);

}  // namespace lodestone::io::report
