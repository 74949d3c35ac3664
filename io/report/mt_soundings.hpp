// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/report/canvas.hpp"
#include "io/report/mt_data.hpp"

#include <vector>

namespace lodestone::io::report {

/// Curves of one station: apparent resistivity, phase and, where present, tipper against period. Error bars
/// are one σ; data not used are hollow; lines are the predictions.
[[nodiscard]] Canvas sounding_picture(const ShownData& data, int station);

/// Several stations on one sheet, `n_columns` side by side, below the legend.
[[nodiscard]] Canvas sounding_sheet(const ShownData& data, const std::vector<int>& stations,
                                    int n_columns = 4);

/// What the symbols mean, once for all curves; only of the modes that the data have.
[[nodiscard]] Canvas sounding_legend(const ShownData& data);

}  // namespace lodestone::io::report
