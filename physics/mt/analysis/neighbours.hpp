// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one comparison.
#pragma once

#include "physics/mt/analysis/phase_tensor.hpp"

#include <optional>
#include <vector>

namespace lodestone::physics::mt {

/// The part of one row that does not depend on distortion, x to the north: phase tensor and tipper.
struct DirectedRow {
  double frequency_hz = 0.0;
  std::optional<Eigen::Matrix2d> phi{};  ///< over its largest singular value
  std::optional<Eigen::Vector2cd> tipper{};
};

/// The turn of its axes that makes a station most like its neighbours.
struct FrameTurn {
  double turn_deg = 0.0;  ///< to be added to the azimuths of its channels, −180 … 180
  /// Mean of ln(1 + d²), as it is and turned, with d its differences from each neighbour over what neighbours
  /// usually differ by. Near neighbours count more: by their distance.
  double as_it_is = 0.0, turned = 0.0;
  int n_rows = 0, n_neighbours = 0;

  /// Returns true where the station is much more like its neighbours when it is turned by a large angle.
  [[nodiscard]] bool is_wrong() const;
};

/// Compares the axes of each station with those of its nearest neighbours.
class FrameComparison {
 public:
  /// Finds the neighbours of all. errors: those of `rotated`.
  explicit FrameComparison(const std::vector<StationData>& stations);
  /// Returns the turn of a station at the periods that it shares with its neighbours, of which it needs three
  /// within 200 km. returns: nothing where there are too few of either.
  [[nodiscard]] std::optional<FrameTurn> turn_of(std::size_t station) const;
  /// Returns the turn of other data in the place of a station. errors: those of `rotated`.
  [[nodiscard]] std::optional<FrameTurn> turn_of(const StationData& instead, std::size_t station) const;

 private:
  struct Neighbour {
    std::size_t station;
    double distance_m;
  };
  [[nodiscard]] std::optional<FrameTurn> turn_of(const std::vector<DirectedRow>& rows,
                                                 const std::vector<Neighbour>& neighbours) const;

  std::vector<std::vector<DirectedRow>> rows_;      ///< rows by station, highest frequency first
  std::vector<std::vector<Neighbour>> neighbours_;  ///< neighbours by station, the nearest first
};

}  // namespace lodestone::physics::mt
