// SPDX-License-Identifier: Apache-2.0
// Small on purpose: files for ParaView and pictures draw the same arrows.
#pragma once

#include "engine/core/words.hpp"
#include "physics/mt/station_data.hpp"

#include <optional>

namespace lodestone::physics::mt {

/// The side to which real induction arrows point. parkinson: towards conductors, wiese: away from them.
/// source: Parkinson 1962 (Geophys. J. R. astr. Soc. 6, 441), Wiese 1962 (Geofis. Pura Appl. 52, 83).
enum class ArrowConvention { parkinson, wiese };
constexpr auto words(ArrowConvention) {
  using enum ArrowConvention;
  return core::Words<ArrowConvention>{{parkinson, "parkinson"}, {wiese, "wiese"}};
}

/// The size below which a tipper is no recording of Hz: a tilt of 0.06 degrees alone gives more.
inline constexpr double least_recorded_tipper = 1e-3;

/// A vector in the axes of a tipper; its length has no unit.
struct InductionArrow {
  double x = 0.0, y = 0.0;
  [[nodiscard]] double length() const;
};
/// The arrows of both parts of a tipper; a convention turns both.
struct InductionArrows {
  InductionArrow real{}, imaginary{};
};
/// Returns the arrows of a row in the axes of its tipper; nothing where an element of that is missing.
[[nodiscard]] std::optional<InductionArrows> induction_arrows(const StationRow& row,
                                                              ArrowConvention convention);

}  // namespace lodestone::physics::mt
