// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/report/canvas.hpp"
#include "io/report/mt_data.hpp"

namespace lodestone::io::report {

/// Observed, predicted and normalized residual of one quantity, one above the other: period against distance.
/// Masked data are blank.
[[nodiscard]] Canvas pseudosection_picture(const ShownData& data, Shown shown);

}  // namespace lodestone::io::report
