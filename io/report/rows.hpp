// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one picture.
#pragma once

#include "inversion/outcome.hpp"
#include "io/report/canvas.hpp"

namespace lodestone::io::report {

/// Draws the data of any physics row by row: observed values with one σ either way, and predictions. Data
/// that were not used are hollow.
[[nodiscard]] Canvas rows_picture(const inversion::Outcome& outcome);

}  // namespace lodestone::io::report
