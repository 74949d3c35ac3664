// SPDX-License-Identifier: Apache-2.0
// The synthetic profile that benchmarks share: 36 stations over 719 km, 20 frequencies, TE and TM, 100 × 64
// parameter cells.
#pragma once

#include "physics/mesh/earth.hpp"
#include "physics/mt/survey.hpp"

namespace lodestone::bench {

inline constexpr int n_stations = 36;

/// Returns a smooth section of two decades, columns of 7.9 km, rows from 2 m to 84 km.
[[nodiscard]] physics::mesh::Model long_section();
/// Returns log10 ρₐ and phase of both modes: 2880 data.
[[nodiscard]] physics::mt::Survey long_survey();

}  // namespace lodestone::bench
