// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/station_data.hpp"

#include <optional>
#include <string>
#include <vector>

namespace lodestone::physics::mt {

/// The data that a strike is sought in.
struct StrikeOptions {
  double min_period_s = 0.0, max_period_s = 1e300;  ///< the second one is left out
  /// Least error of each part of an element, relative to the mean modulus of the four; 2° of phase.
  double relative_floor = 0.035;
};

/// Distortion of the electric field of one station as a strike explains it. Gain and anisotropy cannot be
/// told from the earth.
struct SiteDistortion {
  std::string station;
  double twist_deg = 0.0, shear_deg = 0.0;
};

/// A regional strike under stations, and how well a distorted section explains their impedances.
struct Strike {
  double azimuth_deg = 0.0;  ///< clockwise from north, 0 … 90; the azimuth 90° further serves as well
  double error_deg = 0.0;    ///< one standard deviation, with errors scaled to the misfit
  double rms = 0.0;          ///< at this azimuth, over the degrees of freedom
  double worst_rms = 0.0;    ///< at the azimuth that fits worst
  int n_stations = 0, n_rows = 0;
  int n_freedom = 0;  ///< degrees of freedom
  std::vector<SiteDistortion> distortion{};

  /// Returns false where every azimuth fits nearly as well: over layers there is no strike.
  [[nodiscard]] bool is_determined() const;
};

/// Returns the strike of Z = R C Z₂ Rᵀ, the same for all stations and periods; nothing without complete
/// impedances. C is a real matrix of each station, Z₂ the impedance of a section at each row. In the frame of
/// the strike the columns of Z are complex multiples of real directions, which twist and shear set. The best
/// directions and multiples follow from the azimuth, which is all that is searched for. errors: those of
/// `rotated`. source: the model and its misfit McNeice & Jones 2001 (Geophysics 66, 158), factors of C Groom
/// & Bailey 1989 (J. Geophys. Res. 94, 1913).
[[nodiscard]] std::optional<Strike> strike(const std::vector<StationData>& stations,
                                           const StrikeOptions& options = {});
[[nodiscard]] std::optional<Strike> strike(const StationData& station, const StrikeOptions& options = {});

/// Returns the strike in whose axes the phase tensors that files state are most nearly diagonal, without
/// distortion, which these are free of; nothing without such tensors. A floor on their elements is that of
/// the phase.
[[nodiscard]] std::optional<Strike> phase_tensor_strike(const std::vector<StationData>& stations,
                                                        const StrikeOptions& options = {});

/// The strike that tippers tell, which has no ambiguity: over a section they have no part along it.
struct TipperStrike {
  double azimuth_deg = 0.0;  ///< clockwise from north, 0 … 180
  double share_along = 0.0;  ///< rms of the part along strike over that across; small: a section
  int n_rows = 0;
};
/// Returns it; nothing without tippers.
[[nodiscard]] std::optional<TipperStrike> tipper_strike(const std::vector<StationData>& stations,
                                                        const StrikeOptions& options = {});

/// Returns which of an azimuth and the one 90° further is meant, 0 … 180: the one nearer to `guess_deg`.
[[nodiscard]] double resolved_azimuth_deg(double azimuth_deg, double guess_deg);

}  // namespace lodestone::physics::mt
