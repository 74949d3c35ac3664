// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dc/hankel.hpp"
#include "dc/survey.hpp"
#include "engine/core/differentiable_map.hpp"

#include <vector>

namespace dc {

/// Layered earth → Schlumberger sounding. Unknowns: log10 resistivity (n_layers). Outputs: log10 apparent
/// resistivity, one per spacing.
///
/// source: Koefoed 1979; ρ_a = ((s² − b²)/2b) [U(s − b) − U(s + b)]; U(r) = ρ₁/r + ∫ (T(λ) − ρ₁) J₀(λr) dλ; s
/// = AB/2, b = MN/2.
class Simulation final : public lodestone::core::DifferentiableMap {
 public:
  /// Makes the map. errors: InvalidArgument on a survey without sense or a thickness that is not positive.
  Simulation(std::vector<double> thickness_m, Survey survey);

  [[nodiscard]] Eigen::Index size_in() const override {
    return static_cast<Eigen::Index>(thickness_m_.size()) + 1;
  }
  [[nodiscard]] Eigen::Index size_out() const override {
    return static_cast<Eigen::Index>(survey_.spacings.size());
  }
  [[nodiscard]] std::string name() const override { return "dc::Simulation"; }

 private:
  std::unique_ptr<lodestone::core::Linearization> do_linearize(
      const lodestone::core::ConstVectorRef& x) const override;

  std::vector<double> thickness_m_;
  Survey survey_;
  HankelRule rule_;
};

}  // namespace dc
