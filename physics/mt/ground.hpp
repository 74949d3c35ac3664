// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"
#include "physics/mesh/surface.hpp"
#include "physics/mt/observations.hpp"
#include "physics/mt/sites.hpp"

namespace lodestone::physics::mt {

/// The source of the surface of the solid earth.
enum class Elevation {
  flat_mean,  ///< a plane at the mean height of the stations
  stations,   ///< straight lines between the stations
  file        ///< a given surface
};
constexpr auto words(Elevation) {
  using enum Elevation;
  return core::Words<Elevation>{{flat_mean, "flat_mean"}, {stations, "stations"}, {file, "file"}};
}

/// The choices of `ground_under`.
struct GroundOptions {
  Elevation elevation = Elevation::flat_mean;
  mesh::Surface surface{};  ///< surface of Elevation::file
  OffSurface off_surface = OffSurface::refuse;
};

/// The surface under the stations of a survey.
struct Ground {
  mesh::Surface surface{};
  double elevation_m = 0.0;  ///< height of z = 0 above sea level
};

/// Returns the surface under stations, on a profile or a map. Warns of tilts that are not the slope of the
/// surface. Likewise of stations beyond the points of a map, and of sites at kinks of a profile. errors:
/// FormatError on a station without elevation where the surface goes through the stations; InvalidArgument
/// where stations on a map are to make the surface, or a profile stands under a map of depths; those of
/// `check_site_depths`.
[[nodiscard]] Ground ground_under(const Observations& observed, const GroundOptions& options = {});

}  // namespace lodestone::physics::mt
