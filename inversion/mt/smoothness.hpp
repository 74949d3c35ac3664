// SPDX-License-Identifier: Apache-2.0
// Small on purpose: choices of their own, which every front end shares.
// This states how smooth a section or a volume is where no one says it.
#pragma once

#include "inversion/prior/roughness.hpp"
#include "physics/mt/survey.hpp"

#include <vector>

namespace lodestone::inversion::mt {

/// Share of the depth of a section by which its outermost columns and its lowest layer count beyond the grid.
/// Chosen over lines whose truth is known (docs/results/defaults.md).
inline constexpr double usual_edges_reach = 0.3;

/// Returns the shortest wavelength that stations on a map sample: twice the distance of as many on a square
/// lattice in the rectangle around them, or on a line. Infinite for a lone station. units: m.
[[nodiscard]] double sampled_wavelength_m(const std::vector<physics::mt::Station>& stations);

/// Returns options whose roughness is that in (x, y, ln(z + z0)), z0 being theirs. At every depth a change
/// over the sampled wavelength, at most over the grid's depth, counts like one over a factor e in depth.
/// units: that depth in m.
[[nodiscard]] prior::RoughnessOptions smooth_in_log_depth(prior::RoughnessOptions options, double depth_m,
                                                          const std::vector<physics::mt::Station>& stations);

}  // namespace lodestone::inversion::mt
