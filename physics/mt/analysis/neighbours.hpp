// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one comparison.
#pragma once

#include "physics/mt/analysis/phase_tensor.hpp"

#include <optional>
#include <span>
#include <vector>

namespace lodestone::physics::mt {

/// The part of one row that does not depend on distortion, x to the north: phase tensor and tipper.
struct DirectedRow {
  double frequency_hz = 0.0;
  std::optional<Eigen::Matrix2d> phi{};
  std::optional<Eigen::Vector2cd> tipper{};
};
/// Returns the rows of a station as such, highest frequency first. errors: those of `rotated`.
[[nodiscard]] std::vector<DirectedRow> directed_rows(const StationData& station);

/// The turn of its axes that brings a station closest to its neighbours.
struct FrameTurn {
  double turn_deg = 0.0;  ///< to be added to the azimuths of its channels, −180 … 180
  /// Mean of ln(1 + d²), as it is and turned, with d its difference from the mean of the neighbours over the
  /// deviation of these.
  double as_it_is = 0.0, turned = 0.0;
  int n_rows = 0;

  /// Returns true where the station is much more like its neighbours when it is turned by a large angle.
  [[nodiscard]] bool is_wrong() const;
};

/// Compares a station with its neighbours, of which it needs three, at periods that it shares with them.
/// returns: nothing where there are too few of either.
[[nodiscard]] std::optional<FrameTurn> frame_turn(std::span<const DirectedRow> station,
                                                  std::span<const std::vector<DirectedRow>> neighbours);

}  // namespace lodestone::physics::mt
