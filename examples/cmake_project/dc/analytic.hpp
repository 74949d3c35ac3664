// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dc/survey.hpp"

#include <Eigen/Core>

#include <vector>

namespace dc {

/// A horizontally layered earth, last layer a half-space. shapes: resistivity (n), thickness (n − 1).
struct LayeredEarth {
  Eigen::VectorXd resistivity_ohm_m;
  std::vector<double> thickness_m;
};

/// Returns the resistivity transform T(λ) in ohm m: the potential of a unit surface current is (1/2π) ∫ T(λ)
/// J₀(λr) dλ. `derivative`: dT / d ln ρ of each layer, shape (n). source: Koefoed 1979, "Geosounding
/// Principles 1", Pekeris recurrence.
double resistivity_transform(const LayeredEarth& earth, double lambda_per_m,
                             Eigen::Ref<Eigen::VectorXd> derivative);

/// Returns the apparent resistivity in ohm m from U(r) = ∫ T J₀(λr) dλ at two distances of electrodes: AB/2 −
/// MN/2 and AB/2 + MN/2.
[[nodiscard]] double apparent_resistivity(const Spacing& spacing, double near_ohm, double far_ohm);

/// Returns the apparent resistivity in ohm m of one layer on a half-space, in closed form: U(r) = ρ₁ [1/r + 2
/// Σ kⁿ/√(r² + 4n²h²)], k = (ρ₂ − ρ₁)/(ρ₂ + ρ₁). source: method of images, e.g. Telford et al. 1990, §8.5.
[[nodiscard]] double two_layer_apparent_resistivity(const Spacing& spacing, double top_ohm_m,
                                                    double thickness_m, double bottom_ohm_m);

}  // namespace dc
