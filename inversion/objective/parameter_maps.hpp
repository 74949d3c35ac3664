// SPDX-License-Identifier: Apache-2.0
// Small on purpose: maps to be composed with any simulation, which need nothing else of this folder.
#pragma once

#include "engine/core/map_algebra.hpp"

namespace lodestone::inversion::objective {

/// Makes the map from m = log10 resistivity to resistivity in ohm m, cell by cell.
[[nodiscard]] core::MapPtr exp10_map(Eigen::Index size);

/// Keeps log10 resistivity inside (lower, upper): m = lower + (upper − lower)/(1 + e^{−x}). The optimizer
/// moves the unbounded x.
[[nodiscard]] core::MapPtr bounds_map(Eigen::Index size, double lower_log10, double upper_log10);
/// Inverts `bounds_map` for start and reference models. Values at or outside a bound are moved inside
/// by 1e-3 of the range.
[[nodiscard]] Eigen::VectorXd unbounded(const core::ConstVectorRef& log10_resistivity, double lower_log10,
                                        double upper_log10);

}  // namespace lodestone::inversion::objective
