// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/map_algebra.hpp"

namespace lodestone::inversion::objective {

/// m = log10 resistivity → resistivity in ohm m, cell by cell.
[[nodiscard]] core::MapPtr exp10_map(Eigen::Index size);

/// Keeps log10 resistivity inside (lower, upper): m = lower + (upper − lower)/(1 + e^{−x}). Unbounded x is
/// what the optimizer moves.
[[nodiscard]] core::MapPtr bounds_map(Eigen::Index size, double lower_log10, double upper_log10);
/// The inverse of `bounds_map` for start and reference models; values at or outside a bound are moved inside
/// by 1e-3 of the range.
[[nodiscard]] Eigen::VectorXd unbounded(const core::ConstVectorRef& log10_resistivity, double lower_log10,
                                        double upper_log10);

}  // namespace lodestone::inversion::objective
