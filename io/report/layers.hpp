// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one picture.
#pragma once

#include "inversion/outcome.hpp"
#include "io/report/canvas.hpp"

namespace lodestone::io::report {

/// Draws the final and the start model of layers as curves over depth. The earth of the outcome has layers.
[[nodiscard]] Canvas layers_picture(const inversion::Outcome& outcome);

}  // namespace lodestone::io::report
