// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/station_data.hpp"

#include <Eigen/Core>

#include <optional>
#include <vector>

namespace lodestone::physics::mt {

/// The phase tensor Φ = X⁻¹ Y of an impedance Z = X + iY, which galvanic distortion leaves as it is. Over a
/// section one of its axes points along strike; over a layered earth it is a multiple of the identity.
/// source: Caldwell, Bibby & Brown 2004 (Geophys. J. Int. 158, 457).
struct PhaseTensor {
  Eigen::Matrix2d phi = Eigen::Matrix2d::Zero();  ///< x to the north that azimuths count from, y to the east
  double max = 0.0, min = 0.0;  ///< tangents of the largest and the smallest phase; min has the sign of det Φ
  double azimuth_deg = 0.0;     ///< azimuth of the axis of `max`, clockwise from north, −90 … 90
  double skew_deg = 0.0;        ///< β, which is 0 over layers and sections
  double ellipticity = 0.0;     ///< (max − min)/(max + min), which is 0 over layers

  [[nodiscard]] double max_deg() const;  ///< largest phase
  [[nodiscard]] double min_deg() const;  ///< smallest phase
};

/// Returns the phase tensor of an impedance; nothing where its real part is singular.
[[nodiscard]] std::optional<PhaseTensor> phase_tensor(const Eigen::Matrix2cd& impedance);

/// Returns the numbers of a phase tensor, x to the north.
[[nodiscard]] PhaseTensor phase_tensor_of(const Eigen::Matrix2d& phi);

/// A phase tensor and one standard deviation of each of its numbers; NaN where the row has no errors.
struct MeasuredPhaseTensor {
  PhaseTensor value{}, error{};
};
/// Returns the phase tensor of a row; nothing where an impedance is missing. Errors come from draws of
/// impedances with the row's covariance: half the range of the middle 68 %. The same row has the same
/// errors. errors: those of `rotated`.
[[nodiscard]] std::optional<MeasuredPhaseTensor> phase_tensor(const StationRow& row);

/// Returns a phase tensor that is known with an error of each element, in axes whose x has this azimuth;
/// without errors where one of them is not above 0. Errors come from draws, as above.
[[nodiscard]] MeasuredPhaseTensor phase_tensor_of(const Eigen::Matrix2d& phi, const Eigen::Matrix2d& sigma,
                                                  double x_deg);

/// A phase tensor that a file states as such.
struct StatedPhaseTensor {
  double frequency_hz = not_given;
  MeasuredPhaseTensor tensor{};
};
/// Returns the complete phase tensors among the readings of a station, highest frequency first.
[[nodiscard]] std::vector<StatedPhaseTensor> stated_phase_tensors(const StationData& station);

/// Returns the impedances of a row; nothing where one is missing.
[[nodiscard]] std::optional<Eigen::Matrix2cd> impedance_of(const StationRow& row);
/// Covariance of Zxx, Zxy, Zyx and Zyy, as in `ElementCovariance`.
using ImpedanceCovariance = Eigen::Matrix4cd;
/// Returns the covariance of the impedances of a row; NaN where it has no errors. units: ohm².
[[nodiscard]] ImpedanceCovariance impedance_covariance(const StationRow& row);

}  // namespace lodestone::physics::mt
