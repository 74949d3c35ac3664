// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"
#include "physics/mt/response_layout.hpp"
#include "physics/mt/static_shift.hpp"

#include <string>
#include <vector>

namespace lodestone::physics::mt {

/// Distortion of electric fields by small bodies near a station: a real factor of each row of the impedance,
/// or a real matrix in front of it. Tippers and magnetic fields stay as they are. Serial.
///
/// Unknowns: [simulated responses; s]. Outputs: distorted responses. A simulated response that the layout
/// lacks counts as zero, as Zxx and Zyy over a two-dimensional earth.
/// source: Groom and Bailey 1989, J. Geophys. Res. 94, 1913.
class Distortion final : public core::DifferentiableMap {
 public:
  /// Static shifts: s has one number per key, in decades of ρₐ. Impedances of its station whose electric
  /// field belongs to its mode are multiplied by 10^{s/2}. errors: InvalidArgument on a repeated key.
  [[nodiscard]] static core::MapPtr static_shifts(const ResponseLayout& layout,
                                                  const std::vector<StaticShiftKey>& keys);
  /// Matrices: Z' = (1 + D) Z with D = [s₀ s₁; s₂ s₃] at each of these stations, in their order; other
  /// stations stay undistorted. errors: InvalidArgument when a distorted response has no simulated source, or
  /// a station is repeated.
  [[nodiscard]] static core::MapPtr matrices(const ResponseLayout& simulated, const ResponseLayout& distorted,
                                             const std::vector<int>& stations);

  [[nodiscard]] Eigen::Index size_in() const override { return n_simulated_ + n_parameters_; }
  [[nodiscard]] Eigen::Index size_out() const override { return n_distorted_; }
  [[nodiscard]] std::string name() const override { return "mt::Distortion"; }
  [[nodiscard]] Eigen::Index n_parameters() const { return n_parameters_; }

 private:
  /// A distorted response gets `unit` + s, or 10^{s/2}, times a simulated one; without parameter `unit`
  /// alone.
  struct Term {
    Eigen::Index distorted, simulated, parameter;
    double unit;
  };
  enum class Factor { power_of_ten, sum };

  Distortion(Eigen::Index n_simulated, Eigen::Index n_distorted, Eigen::Index n_parameters, Factor factor);
  [[nodiscard]] double factor_of(const Term& term, const core::ConstVectorRef& x) const;
  [[nodiscard]] double slope_of(const Term& term, const core::ConstVectorRef& x) const;
  Eigen::VectorXd do_value(const core::ConstVectorRef& x) const override;
  std::unique_ptr<core::Linearization> do_linearize(const core::ConstVectorRef& x) const override;

  Eigen::Index n_simulated_, n_distorted_, n_parameters_;
  Factor factor_;
  std::vector<Term> terms_;
};

}  // namespace lodestone::physics::mt
