// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/config/config.hpp"
#include "io/run/result.hpp"
#include "physics/mesh/surface.hpp"
#include "physics/mt/survey.hpp"

namespace lodestone::mt_invert::method {

/// The data of a run, and the place of its stations on the earth.
struct Observations {
  physics::mt::ObservedData data;  ///< all keys, also the masked ones
  io::run::ProfileGeometry geometry;
  physics::mesh::SurfaceLine surface;
};

/// Reads stations, places them on a profile, selects data, and finds the surface; logs what was done. errors:
/// those of the readers and of mt::select; InvalidArgument when a station's depth is not the surface's,
/// FormatError when a station has no coordinates.
[[nodiscard]] Observations load_observations(const config::DataConfig& data,
                                             const config::ProfileConfig& profile);

}  // namespace lodestone::mt_invert::method
