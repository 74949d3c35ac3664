// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one kind of picture; the drawing stays in the source files.
#pragma once

#include "inversion/outcome.hpp"
#include "io/report/canvas.hpp"

namespace lodestone::io::report {

/// Draws the rms of the kept data per site, per period and per type of datum, as bars.
[[nodiscard]] Canvas misfit_picture(const inversion::Outcome& outcome);

/// Draws rms and λ per iteration, side by side.
[[nodiscard]] Canvas history_picture(const inversion::Outcome& outcome);
/// Draws the misfit of each iteration against its roughness, with the number of it. The picture is empty (no
/// height) where fewer than two iterations have both.
[[nodiscard]] Canvas trade_off_picture(const inversion::Outcome& outcome);

}  // namespace lodestone::io::report
