// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"
#include "physics/mt/survey.hpp"

#include <vector>

namespace lodestone::physics::mt::d1 {

/// Layered earth → transfer functions of one sounding. Unknowns: log10 resistivity (n_layers), then, if free,
/// thickness in metres (n_layers − 1). Outputs: quantities zxy_*, zyx_* (Zyx = −Zxy), log10_rho_*, phase_* at
/// each frequency; order: quantity, then frequency.
class Simulation final : public core::DifferentiableMap {
 public:
  enum class Thickness { fixed, free };
  /// errors: InvalidArgument on a tipper quantity, empty lists, non-positive thickness or frequency.
  Simulation(std::vector<double> thickness_m, std::vector<double> frequencies_hz,
             std::vector<Quantity> quantities, Thickness thickness = Thickness::fixed);

  [[nodiscard]] Eigen::Index size_in() const override;
  [[nodiscard]] Eigen::Index size_out() const override;
  [[nodiscard]] std::string name() const override { return "mt::d1::Simulation"; }

 private:
  std::unique_ptr<core::Linearization> do_linearize(const core::ConstVectorRef& x) const override;
  std::vector<double> thickness_m_, frequencies_hz_;
  std::vector<Quantity> quantities_;
  Thickness mode_;
};

}  // namespace lodestone::physics::mt::d1
