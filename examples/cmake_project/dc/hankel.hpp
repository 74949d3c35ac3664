// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace dc {

/// A linear rule for ∫₀^∞ f(x) J₀(x) dx ≈ Σ weight_i f(x_i), for f smooth in ln x that need not decay: a
/// digital filter whose coefficients are computed here.
///
/// Gauss–Legendre panels, halved towards x = 0 and one per half-wave of J₀ beyond; the alternating sum over
/// half-waves is averaged (Euler's transformation), which stays linear in f, so that derivatives of the rule
/// are exact. Relative error about 1e-12 for layered earths.
struct HankelRule {
  std::vector<double> x, weight;
};
[[nodiscard]] HankelRule make_hankel_rule();

}  // namespace dc
