// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"
#include "physics/mt/d1/layered.hpp"
#include "physics/mt/response_layout.hpp"

#include <string>
#include <vector>

namespace lodestone::physics::mt::d1 {

/// Layered earth → transfer functions of one sounding; `data_map` turns them into data.
///
/// Unknowns: log10 resistivity (n_layers), then, if free, thickness in metres (n_layers − 1). Outputs:
/// responses in the order of the layout, Zyx = −Zxy.
class Simulation final : public core::DifferentiableMap {
 public:
  static constexpr Elements predicted_elements{Element::zxy, Element::zyx};

  enum class Thickness { fixed, free };
  /// Makes the simulation. errors: InvalidArgument on other elements than the predicted ones, several
  /// stations, an empty layout, non-positive thickness or frequency; ShapeError when a key is outside the
  /// frequencies.
  Simulation(std::vector<double> thickness_m, ResponseLayout layout, std::vector<double> frequencies_hz,
             Thickness thickness = Thickness::fixed);

  [[nodiscard]] Eigen::Index size_in() const override;
  [[nodiscard]] Eigen::Index size_out() const override { return layout_.size(); }
  [[nodiscard]] std::string name() const override { return "mt::d1::Simulation"; }

 private:
  void check_layout() const;
  std::unique_ptr<core::Linearization> do_linearize(const core::ConstVectorRef& x) const override;

  std::vector<double> thickness_m_, frequencies_hz_;
  ResponseLayout layout_;
  Thickness mode_;
};

/// Returns the map from a layered earth to the data of the only station of a survey. errors: InvalidArgument
/// when a datum needs more than a layered earth determines, and those of the simulation.
[[nodiscard]] core::MapPtr data_map(std::vector<double> thickness_m, const Survey& survey,
                                    Simulation::Thickness thickness = Simulation::Thickness::fixed);

/// Returns the data of a survey over a layered earth, the same at every station. shape: (keys). errors:
/// InvalidArgument when a datum is made of neither Zxy nor Zyx.
[[nodiscard]] Eigen::VectorXd layered_data(const LayeredEarth& earth, const Survey& survey);

}  // namespace lodestone::physics::mt::d1
