// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mesh/surface.hpp"
#include "physics/mt/survey.hpp"

#include <string>
#include <vector>

namespace lodestone::physics::mt {

/// The treatment of sites off the surface.
enum class OffSurface { refuse, drape };

/// Checks that sites whose file states a depth stand on the surface, within a metre. Draped ones are moved
/// onto it, with one line in the log. `way_out`: the setting for draping. errors: InvalidArgument that
/// names the sites with their distances, unless they are draped.
void check_site_depths(const std::vector<Station>& stations, const mesh::SurfaceLine& surface,
                       OffSurface off_surface, const std::string& way_out);

/// Returns the surface through the stations, in order along the profile. errors: InvalidArgument that names
/// a station without a depth.
[[nodiscard]] mesh::SurfaceLine surface_through(const std::vector<Station>& stations);

/// A site that stands so near a kink of the surface that its responses are those of the kink.
struct SiteAtKink {
  std::size_t site;
  double distance_m;  ///< along the profile, to the kink
  double kink_y_m;
  double angle_rad;  ///< by which the surface turns there
};

/// Returns the sites within 2 % of the shorter of the two segments that meet at a kink, kinks of more than 2
/// degrees. In order of the sites.
///
/// At a kink the slope, and with it what is level and what is normal, jumps; the field itself is singular
/// there: E of TM along the surface goes with the distance r as r^(±θ/π) for small angles θ by which the
/// surface turns. At 2 % of a segment a kink of 2 degrees changes it by 50^(2/180) = 4 %.
[[nodiscard]] std::vector<SiteAtKink> sites_at_kinks(const std::vector<Station>& stations,
                                                     const mesh::SurfaceLine& surface);

/// Logs one warning that names these sites with their distances, if there are any. `way_out`: a remedy for
/// the user.
void warn_of_sites_at_kinks(const std::vector<Station>& stations, const mesh::SurfaceLine& surface,
                            const std::string& way_out);

}  // namespace lodestone::physics::mt
