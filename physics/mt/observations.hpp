// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/station_data.hpp"

#include <vector>

namespace lodestone::physics::mt {

/// Data that an inversion may use, with the reason why each is used or not. shapes: all
/// (survey.keys.size()).
struct Observations {
  Survey survey{};
  Eigen::VectorXd value{};                   ///< units of the datum; NaN where missing
  Eigen::VectorXd sigma_measured{};          ///< before floors; NaN: not given
  Eigen::VectorXd sigma{};                   ///< after floors
  std::vector<MaskReason> reason{};          ///< kept: used
  std::vector<std::uint8_t> interpolated{};  ///< 1: made by interpolation on request
  std::vector<StationData> stations{};  ///< merged, in the frame of the data; same order as in the survey
  double azimuth_deg = 0.0;             ///< of the x axis of the data, clockwise from geographic north

  [[nodiscard]] Eigen::Index n_used() const;
  /// Returns the data without their history.
  [[nodiscard]] ObservedData observed_data() const;
};

}  // namespace lodestone::physics::mt
