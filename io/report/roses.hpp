// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one kind of picture; the drawing stays in the source file.
#pragma once

#include "io/report/canvas.hpp"
#include "physics/mt/analysis/strike_bands.hpp"

#include <vector>

namespace lodestone::io::report {

/// Draws for each band of periods a rose of the strikes of its stations, and below it one of their tippers.
/// Petals count stations in steps of 10°. Impedances leave an ambiguity of 90°: both quadrants are drawn, the
/// second paler. Lines show the strike of all stations together.
[[nodiscard]] Canvas strike_roses(const std::vector<physics::mt::StrikeBand>& bands);

}  // namespace lodestone::io::report
