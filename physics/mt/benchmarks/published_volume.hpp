// SPDX-License-Identifier: Apache-2.0
// Small on purpose: volumes need nothing of what sections need.
#pragma once

#include "physics/mesh/earth.hpp"
#include "physics/mt/mesh_rules.hpp"

#include <string>

namespace lodestone::physics::mt::benchmarks {

/// A published volume, and the limits by which responses of it are judged.
struct PublishedVolume {
  mesh::Model volume;
  double rho_limit_percent = 1.5, phase_limit_deg = 0.7;
  double tipper_limit = 0.01;  ///< for each part of Tzx and Tzy
};

/// Returns COMMEMI 3D-1A or 3D-2A (`commemi3d1`, `commemi3d2`), Dublin Test Model 1 (`dtm1`) or the two
/// mountains of METOD-3D (`two_mountain_3d`); geometry: data/benchmarks/README.md. For `fine` the limits are
/// 1 % and 0.3 degrees. source: Zhdanov et al. 1997, doi:10.1016/S0926-9851(97)00013-X; Miensopust et al.
/// 2013, doi:10.1093/gji/ggt066. errors: InvalidArgument for another name.
[[nodiscard]] PublishedVolume published_volume(const std::string& name,
                                               Accuracy accuracy = Accuracy::standard);

}  // namespace lodestone::physics::mt::benchmarks
