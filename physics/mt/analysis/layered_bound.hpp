// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one bound.
#pragma once

#include "physics/mt/element.hpp"

#include <vector>

namespace lodestone::physics::mt {

/// An impedance at one frequency with one standard deviation of each part. units: Hz, ohm.
struct CurvePoint {
  double frequency_hz = 0.0;
  Complex impedance{};
  double sigma = 0.0;
};

/// The least misfit that any layered earth has to a curve.
struct LayeredBound {
  double rms = 0.0;                     ///< over all parts of the points that are no outliers
  std::vector<double> residual{};       ///< |observed − best|/(√2 σ) of each point
  std::vector<std::size_t> outliers{};  ///< points that are left out, as the others do without them
};

/// Returns the least misfit to Zxy, or to −Zyx, over all layered earths: that of thin conducting sheets (D⁺).
/// Z/(iωμ₀) = a₀ + Σ aₙ/(λₙ + iω) with aₙ ≥ 0; λ runs over a dense list, beyond the band on either side.
/// Points beyond three times the median residual, and beyond 3, are left out once.
/// Curves of TM obey this over any section, those of TE over most. errors: InvalidArgument on a frequency or
/// an error that is not positive. source: Parker 1980 (J. Geophys. Res. 85, 4421), Parker & Whaler 1981
/// (J. Geophys. Res. 86, 9574).
[[nodiscard]] LayeredBound layered_bound(const std::vector<CurvePoint>& curve);

}  // namespace lodestone::physics::mt
