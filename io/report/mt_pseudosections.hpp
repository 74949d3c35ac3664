// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one kind of picture; the drawing stays in the source file.
#pragma once

#include "io/report/canvas.hpp"
#include "io/report/mt_data.hpp"

#include <set>
#include <string>
#include <vector>

namespace lodestone::io::report {

/// Draws observed and predicted values and normalized residuals of one quantity, one above the other: period
/// against distance. Masked data are blank.
[[nodiscard]] Canvas pseudosection_picture(const ShownData& data, Shown shown);

/// Draws the observed values of several quantities one above the other, those of which there are some. The
/// colours reach over the values of all stations but those of `set_no_limits`, as long as others have some.
[[nodiscard]] Canvas observed_pseudosections(const ShownData& data, const std::vector<Shown>& all,
                                             const std::string& title,
                                             const std::set<std::string>& set_no_limits = {});

}  // namespace lodestone::io::report
