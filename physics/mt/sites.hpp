// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mesh/surface.hpp"
#include "physics/mesh/tensor_grid.hpp"
#include "physics/mt/profile.hpp"
#include "physics/mt/survey.hpp"

#include <string>
#include <vector>

namespace lodestone::physics::mt {

/// The treatment of sites off the surface.
enum class OffSurface { refuse, drape };

/// Checks that sites whose file states a depth stand on the surface, within a metre. Draped ones are moved
/// onto it, with one line in the log. `way_out`: the setting for draping. errors: InvalidArgument that
/// names the sites with their distances, unless they are draped.
void check_site_depths(const std::vector<Station>& stations, const mesh::Surface& surface,
                       OffSurface off_surface, const std::string& way_out);

/// Returns the surface through the stations, in order along the profile. Each stands in the middle half of
/// the way between its neighbours, which is one straight facet, so that corners lie between stations. errors:
/// InvalidArgument that names a station without a depth.
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

/// A site farther from the line than a fifth of the line's length; a section has no place for it.
struct SiteOffLine {
  std::size_t site;
  double offset_m;  ///< from the line, positive to +x
};
/// Returns these sites, the farthest first. The length of the line is that between its outermost sites.
[[nodiscard]] std::vector<SiteOffLine> sites_off_line(const Profile& profile);
/// Logs one warning that names the farthest of these sites, if there are any. `stations`: those of the
/// profile.
void warn_of_sites_off_line(const std::vector<Station>& stations, const Profile& profile);

/// Logs one warning that names the stations outside a box, seen from above, if there are any. `what`: its
/// meaning. `way_out`: a remedy for the user.
void warn_of_sites_outside(const std::vector<Station>& stations, const mesh::Box& within,
                           const std::string& what, const std::string& way_out);
/// Likewise of the columns of a grid.
void warn_of_sites_outside(const std::vector<Station>& stations, const mesh::TensorGrid& grid,
                           const std::string& way_out);

/// Two sites closer together than half a column of the grid, on a line two neighbours. No cell lies between
/// them, so that the model cannot explain a difference of their data.
struct CloseSites {
  std::size_t first, second;  ///< along the line
  double distance_m;
  double column_m;  ///< width of the narrower of the columns in which they stand
};
/// Returns these pairs, from the least y on; none in grids without the axis y.
[[nodiscard]] std::vector<CloseSites> close_sites(const std::vector<Station>& stations,
                                                  const mesh::TensorGrid& grid);
/// Logs one warning that names these pairs, if there are any. `way_out`: a remedy for the user.
void warn_of_close_sites(const std::vector<Station>& stations, const mesh::TensorGrid& grid,
                         const std::string& way_out);

}  // namespace lodestone::physics::mt
