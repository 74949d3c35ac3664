// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"
#include "physics/mt/response_layout.hpp"

#include <string>
#include <vector>

namespace lodestone::physics::mt {

/// A static shift: one number s per station and mode, which adds s to log10 ρₐ and multiplies the impedance
/// by 10^{s/2}. Phase and tipper stay as they are.
struct StaticShiftKey {
  Mode mode;
  int station;  ///< index into Survey::stations
};

/// Returns the shifts that act on the data of a survey: every station and mode with an impedance or an
/// apparent resistivity. order: mode, then station.
[[nodiscard]] std::vector<StaticShiftKey> static_shift_keys(const Survey& survey,
                                                            const std::vector<Mode>& modes);

/// Distortion of electric fields by small bodies near a station: a real factor 10^{s/2} of the impedances
/// whose electric field belongs to one mode. Tippers and magnetic fields stay as they are. Serial.
///
/// Unknowns: [simulated responses; s], s in decades of ρₐ, one number per key. Outputs: distorted responses.
class Distortion final : public core::DifferentiableMap {
 public:
  /// Makes the map. errors: InvalidArgument on a repeated key.
  Distortion(const ResponseLayout& layout, const std::vector<StaticShiftKey>& keys);

  [[nodiscard]] Eigen::Index size_in() const override { return size_out() + n_shifts_; }
  [[nodiscard]] Eigen::Index size_out() const override { return 2 * std::ssize(shift_of_); }
  [[nodiscard]] std::string name() const override { return "mt::Distortion"; }

 private:
  /// Returns the factor of each response.
  [[nodiscard]] Eigen::VectorXd factors(const core::ConstVectorRef& x) const;
  Eigen::VectorXd do_value(const core::ConstVectorRef& x) const override;
  std::unique_ptr<core::Linearization> do_linearize(const core::ConstVectorRef& x) const override;

  Eigen::Index n_shifts_;
  std::vector<Eigen::Index> shift_of_;  ///< index of the shift of each complex response, −1 for none
};

}  // namespace lodestone::physics::mt
