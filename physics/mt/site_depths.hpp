// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mesh/surface.hpp"
#include "physics/mt/survey.hpp"

#include <string>
#include <vector>

namespace lodestone::physics::mt {

/// What to do with sites beside the surface.
enum class OffSurface { refuse, drape };

/// Sites whose file states a depth stand on the surface, within a metre. Draped ones are moved onto it, with
/// one line in the log. `z_m`: per station, NaN where not stated; empty: stated nowhere. `way_out`: how the
/// user asks for draping. errors: InvalidArgument that names the sites with their distances, unless they are
/// draped.
void check_site_depths(const std::vector<physics::mt::Station>& stations, const std::vector<double>& z_m,
                       const physics::mesh::SurfaceLine& surface, OffSurface off_surface,
                       const std::string& way_out);

/// The surface through the stations, in order along the profile. `z_m`: per station, all given.
[[nodiscard]] physics::mesh::SurfaceLine surface_through(const std::vector<double>& y_m,
                                                         const std::vector<double>& z_m);

}  // namespace lodestone::physics::mt
