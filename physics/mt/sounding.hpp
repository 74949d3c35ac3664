// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/data_set.hpp"
#include "engine/core/words.hpp"
#include "physics/mt/observations.hpp"

#include <Eigen/Core>

#include <cstdint>
#include <vector>

namespace lodestone::physics::mt {

/// Which curve stands for a station where the earth is taken as layered.
enum class SoundingMode {
  te,
  tm,
  average,  ///< mean of both modes' log10 ρₐ and phase at each frequency, of one where the other is masked
};
constexpr auto words(SoundingMode) {
  using enum SoundingMode;
  return core::Words<SoundingMode>{{average, "average"}, {te, "te"}, {tm, "tm"}};
}

/// Apparent resistivity and phase of one station as a layered earth gives them for Zxy. shapes: (2
/// n_frequencies), log10 ρₐ first, then phases.
struct Sounding {
  std::vector<double> frequencies_hz;
  Eigen::VectorXd value;  ///< log10(ohm m); radian, TM folded by +π
  Eigen::VectorXd sigma;
  std::vector<std::uint8_t> kept;  ///< 0: masked, or not measured
  [[nodiscard]] Eigen::Index n_kept() const;
  /// Returns the sounding as a misfit compares it. The key states quantity and period of each.
  [[nodiscard]] core::DataSet data_set() const;
};

/// Returns the sounding of one station; impedances become apparent resistivity and phase with errors to first
/// order. Tippers are left out. errors: ShapeError on a station outside the survey.
[[nodiscard]] Sounding sounding_of(const Observations& data, int station, SoundingMode mode);

}  // namespace lodestone::physics::mt
