// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/data_set.hpp"
#include "physics/mt/profile.hpp"
#include "physics/mt/station_data.hpp"

#include <string>
#include <vector>

namespace lodestone::physics::mt {

/// Data that an inversion may use, with the reason why each is used or not. shapes: all
/// (survey.keys.size()); history that is not known is empty.
struct Observations {
  Survey survey{};
  Eigen::VectorXd value{};                   ///< units of the datum; NaN where missing
  Eigen::VectorXd sigma_measured{};          ///< before floors; NaN: not given
  Eigen::VectorXd sigma{};                   ///< after floors
  std::vector<MaskReason> reason{};          ///< kept: used
  std::vector<std::uint8_t> interpolated{};  ///< 1: made by interpolation on request
  /// 1: missing, and no file had to hold it: where frequencies of any station are taken, each may lack some.
  std::vector<std::uint8_t> absent{};
  Profile profile{};                    ///< line of the stations of the survey
  ErrorFloors floors{};                 ///< those that hold for all stations, for reports
  std::vector<StationData> stations{};  ///< merged, in the frame of the data; same order as in the survey
  double azimuth_deg = 0.0;  ///< azimuth of the x axis of the data, clockwise from geographic north

  [[nodiscard]] Eigen::Index n_used() const;
  /// Returns the used data alone, with a survey of their keys.
  [[nodiscard]] Observations kept() const;
  /// Returns the data as a misfit compares them. The key states quantity, site, distance along the profile
  /// and period of each.
  [[nodiscard]] core::DataSet data_set() const;
};

/// Checks that a datum is used. errors: InvalidArgument with counts by reason.
void require_usable(const Observations& data);
/// Returns the data with those masked as `not_predicted` that need elements beside these. Data with another
/// reason keep it. errors: InvalidArgument when no usable datum is left.
[[nodiscard]] Observations without_unpredicted(Observations data, Elements predicted);

/// Returns counts by datum and reason, as a table.
[[nodiscard]] std::string mask_table(const Observations& data);
/// Returns, for each reason that masks at least a tenth of what is masked, what to look at.
[[nodiscard]] std::string mask_advice(const Observations& data);
/// Returns what is odd about masked data, in sentences that state what to look at. They name stations without
/// a usable datum, by reason, and state a share above 12 % at the others. Stations that mask rules take whole
/// and absent data are left out. Empty where all is well.
[[nodiscard]] std::vector<std::string> mask_warnings(const Observations& data);

}  // namespace lodestone::physics::mt
