// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/station_data.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lodestone::physics::mt {

/// Time factor of the numbers of a file, e^{±iωt}. vote: that of the quadrants of Zxy and Zyx.
enum class TimeFactor { vote, plus, minus };
constexpr auto words(TimeFactor) {
  using enum TimeFactor;
  return core::Words<TimeFactor>{{vote, "vote"}, {plus, "plus"}, {minus, "minus"}};
}
/// Units of the impedances of a file: mV/km/nT, or V/A. vote: by the size of ρₐ.
enum class ImpedanceUnits { vote, field, ohm };
constexpr auto words(ImpedanceUnits) {
  using enum ImpedanceUnits;
  return core::Words<ImpedanceUnits>{{vote, "vote"}, {field, "field"}, {ohm, "ohm"}};
}

/// The sign and the units of the numbers of a file.
struct Conventions {
  TimeFactor sign = TimeFactor::vote;
  ImpedanceUnits units = ImpedanceUnits::vote;
};

/// Returns the time factor that a line of text states, as `exp(+i w t)` or `exp(-iwt)`, in any case and with
/// blanks.
[[nodiscard]] std::optional<TimeFactor> time_factor_in(std::string_view text);

/// Returns the time factor that both off-diagonal elements vote for, if either has at least five votes and
/// neither contradicts. A value votes by its quadrant: under e^{+iωt} Zxy lies in the first, Zyx in the
/// third.
[[nodiscard]] std::optional<TimeFactor> voted_time_factor(const std::vector<StationRow>& rows);

/// Returns the median apparent resistivity of the off-diagonal elements in ohm m, if they are in mV/km/nT;
/// NaN where there is none.
[[nodiscard]] double median_rho_as_field(const std::vector<StationRow>& rows);
/// Returns true where only ohm gives resistivities that the earth has.
[[nodiscard]] bool looks_like_ohm(const std::vector<StationRow>& rows);

/// Converts rows as they stand in a file to e^{+iωt} and ohm, and notes in the station what the file has.
/// `chosen` goes before `stated`, which is what the file says, and that before a vote. Without any,
/// e^{+iωt} and mV/km/nT are assumed. returns: sentences on what was voted, assumed or contradicts.
[[nodiscard]] std::vector<Remark> convert(StationData& station, const Conventions& chosen,
                                          const Conventions& stated = {});

/// Returns the number near `guess` that `forward` maps to exactly this image, so that what was read is
/// written as it stood; `guess` where no number within 16 units in the last place does.
template <class Forward>
[[nodiscard]] double preimage(double image, double guess, const Forward& forward) {
  constexpr int most_units = 16;
  double above = guess, below = guess;
  for (int k = 0; k < most_units; ++k) {
    if (forward(above) == image) return above;
    if (forward(below) == image) return below;
    above = std::nextafter(above, std::numeric_limits<double>::infinity());
    below = std::nextafter(below, -std::numeric_limits<double>::infinity());
  }
  return guess;
}
/// Returns the number of mV/km/nT that `convert` turns into this one, which is in ohm.
[[nodiscard]] double in_field_units(double ohm);
/// Returns the variance v of a complex number whose parts have this standard deviation: √(v/2) times `unit`
/// is it.
[[nodiscard]] double variance_of_complex(double sigma_of_part, double unit = 1.0);
/// Returns the number of (mV/km/nT)² that `convert` turns into this one, which is in ohm², as in the noise of
/// E.
[[nodiscard]] double in_squared_field_units(double squared_ohm);

}  // namespace lodestone::physics::mt
