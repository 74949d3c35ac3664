// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one kind of picture; the drawing stays in the source file.
#pragma once

#include "io/report/canvas.hpp"
#include "io/report/mt_data.hpp"

namespace lodestone::io::report {

/// Draws observed and predicted values and normalized residuals of one quantity, one above the other: period
/// against distance. Masked data are blank.
[[nodiscard]] Canvas pseudosection_picture(const ShownData& data, Shown shown);

}  // namespace lodestone::io::report
