// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one statistic.
#pragma once

#include "physics/mt/observations.hpp"

namespace lodestone::physics::mt {

/// Offsets of curves of apparent resistivity beside those of their neighbours on a profile. One is that of
/// log10 ρₐ of a station from the line between its two neighbours, at a period that all three measured.
/// Levels and changes are scaled to one curve of normally distributed shifts. units: decades.
struct CurveOffsets {
  double level = 0.0;   ///< size of the offsets' medians over the periods, the rms of the modes
  double change = 0.0;  ///< size of the offsets' change with the period, likewise
  int n_curves = 0;     ///< number of curves that share five periods with both neighbours

  /// Returns true where levels differ more than a smooth earth makes them, and more than they change with
  /// the period.
  [[nodiscard]] bool demand_shifts() const;
};

/// Compares the used data. returns: no curve where there are fewer than three stations, or no apparent
/// resistivity or impedance.
[[nodiscard]] CurveOffsets curve_offsets(const Observations& data);

}  // namespace lodestone::physics::mt
