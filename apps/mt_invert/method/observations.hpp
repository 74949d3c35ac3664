// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/config/config.hpp"
#include "io/profile/profile_data.hpp"
#include "io/run/result.hpp"
#include "physics/mesh/surface.hpp"
#include "physics/mt/survey.hpp"

namespace lodestone::mt_invert::method {

/// What was measured, and where on the earth.
struct Observations {
  physics::mt::ObservedData data;  ///< all keys, also the masked ones
  io::run::ProfileGeometry geometry;
  physics::mesh::SurfaceLine surface;
};

/// Reads, rotates, projects, selects and masks; logs what was done.
/// errors: those of the readers; InvalidArgument when no datum is usable or a station's depth is not the
/// surface's, FormatError when a station has no coordinates.
[[nodiscard]] Observations load_observations(const config::DataConfig& data,
                                             const config::ProfileConfig& profile);

/// Observations of a file of profile data, with quantities, periods, floors and masks of the configuration.
[[nodiscard]] io::profile::ProfileData load_profile_data(const config::DataConfig& config);

}  // namespace lodestone::mt_invert::method
