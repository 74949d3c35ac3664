// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"
#include "physics/mt/analysis/phase_tensor.hpp"

#include <array>
#include <vector>

namespace lodestone::physics::mt {

/// The dimension of the earth that one impedance tensor tells of. undetermined: it is incomplete, or has no
/// errors.
enum class Dimensionality { undetermined, layered, section, volume };
constexpr auto words(Dimensionality) {
  using enum Dimensionality;
  return core::Words<Dimensionality>{
      {undetermined, "undetermined"}, {layered, "1-D"}, {section, "2-D"}, {volume, "3-D"}};
}

/// A phase tensor with a larger skew tells of a volume. source: Caldwell et al. 2004.
inline constexpr double most_skew_of_section_deg = 3.0;
/// One with a larger ellipticity tells of a section. source: Bibby et al. 2005 (Geophys. J. Int. 163, 915).
inline constexpr double most_ellipticity_of_layers = 0.1;

/// Returns the dimension that a phase tensor tells of: a limit counts as exceeded where it is by more than
/// one standard deviation.
[[nodiscard]] Dimensionality dimensionality(const MeasuredPhaseTensor& tensor);

/// Shares of the tensors of stations by their dimension.
struct DimensionalityCounts {
  std::array<int, 4> of{};             ///< in the order of `Dimensionality`
  double median_skew_deg = not_given;  ///< median of |β|, also of those without errors
  [[nodiscard]] int n_determined() const;
  [[nodiscard]] double share(Dimensionality dimension) const;  ///< share among the determined ones; 0 of none
};
/// Counts tensors of impedances, and those that files state where there is no complete impedance.
[[nodiscard]] DimensionalityCounts dimensionality(const std::vector<StationData>& stations,
                                                  double min_period_s, double max_period_s);

/// Numbers of an impedance tensor that no rotation changes.
struct Invariants {
  double swift_skew = not_given;  ///< |Zxx + Zyy| / |Zxy − Zyx|; 0 over sections without distortion
  /// Phase-sensitive skew, which distortion over a section leaves at 0. source: Bahr 1991 (Phys. Earth
  /// Planet. Inter. 66, 24).
  double bahr_skew = not_given;
  /// I1 to I7 of Weaver, Agarwal & Lilley 2000 (Geophys. J. Int. 141, 321). I1 and I2 have the units of the
  /// impedance. Over layers I3 to I7 are 0, over sections I5 to I7, over distorted sections I7.
  std::array<double, 7> i{};
  double q = not_given;  ///< Q of the same source; I7 means little where Q is small
};
[[nodiscard]] Invariants invariants(const Eigen::Matrix2cd& impedance);

/// A depth and the resistivity of the earth there, as one period tells of them.
struct DepthEstimate {
  double depth_m = 0.0, resistivity_ohm_m = 0.0;
};
/// Returns the transform of Niblett and Bostick: h = √(ρₐ T/(2π μ₀)), ρ(h) = ρₐ (π/(2φ) − 1). The resistivity
/// is NaN for phases outside 0…90°. source: Jones 1983 (J. Geophys. 53, 72).
[[nodiscard]] DepthEstimate niblett_bostick(double rho_ohm_m, double phase_deg, double period_s);

}  // namespace lodestone::physics::mt
