// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mesh/surface.hpp"
#include "physics/mt/survey.hpp"

#include <string>
#include <vector>

namespace lodestone::physics::mt {

/// What to do with sites beside the surface.
enum class OffSurface { refuse, drape };

/// Checks that sites whose file states a depth stand on the surface, within a metre. Draped ones are moved
/// onto it, with one line in the log. `way_out`: how the user asks for draping. errors: InvalidArgument that
/// names the sites with their distances, unless they are draped.
void check_site_depths(const std::vector<Station>& stations, const physics::mesh::SurfaceLine& surface,
                       OffSurface off_surface, const std::string& way_out);

/// Returns the surface through the stations, in order along the profile. errors: InvalidArgument that names
/// a station without a depth.
[[nodiscard]] physics::mesh::SurfaceLine surface_through(const std::vector<Station>& stations);

}  // namespace lodestone::physics::mt
