// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one kind of picture; the drawing stays in the source file.
#pragma once

#include "io/report/canvas.hpp"
#include "io/report/mt_data.hpp"

#include <cstddef>
#include <vector>

namespace lodestone::io::report {

/// Draws the curves of one station against period: apparent resistivity, phase, phase tensor and tipper, as
/// far as any station has them. Error bars are one σ; data not used are hollow; lines are the predictions.
/// Without predictions the axes hold the bulk of the values; triangles at their ends show where others lie.
[[nodiscard]] Canvas sounding_picture(const ShownData& data, int station);

/// Numbers of the observed values of curves.
struct ValuesOfCurves {
  std::size_t beyond = 0, all = 0;  ///< the ends of their axes, where a triangle stands in their place
};
/// Counts the observed values of a station that its picture shows and those that lie beyond its axes.
[[nodiscard]] ValuesOfCurves values_of_curves(const ShownData& data, int station);

/// Draws several stations on one sheet, `n_columns` side by side, below the legend.
[[nodiscard]] Canvas sounding_sheet(const ShownData& data, const std::vector<int>& stations,
                                    int n_columns = 4);

/// Explains the symbols, once for all curves, for the modes of the data.
[[nodiscard]] Canvas sounding_legend(const ShownData& data);

}  // namespace lodestone::io::report
