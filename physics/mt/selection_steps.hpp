// SPDX-License-Identifier: Apache-2.0
// Private to physics/mt: the steps of `select`, one function each, in their order.
#pragma once

#include "physics/mt/selection.hpp"

namespace lodestone::physics::mt {

/// Stations with their places in the frame of the data.
struct PlacedStations {
  std::vector<StationData> stations;  ///< their site.y_m counts along the line
  Profile profile;                    ///< line of these stations
};
[[nodiscard]] PlacedStations placed(const std::vector<StationData>& stations, const Profile& profile);

/// Joins stations that are closer than this to the first of them. Stations of one place at different depths
/// stay apart. `merge_into` joins them.
[[nodiscard]] PlacedStations merged_bands(const PlacedStations& placed, double same_place_m);

/// Drops rows and readings outside the band. errors: InvalidArgument when nothing is left of any station.
void limit_periods(std::vector<StationData>& stations, double min_period_s, double max_period_s);

/// Rotates every row from the azimuths of its channels, plus the declination, to the frame of the data.
/// Readings of another frame are dropped with a remark, unless they do not depend on it. returns: what rows
/// lose.
TurnLoss rotate_once(std::vector<StationData>& stations, double azimuth_deg, double declination_deg);

/// Returns the frequencies of the survey. errors: InvalidArgument when there is none.
[[nodiscard]] std::vector<double> chosen_frequencies(const std::vector<StationData>& stations,
                                                     const Selection& selection);

/// One datum before floors.
struct Evaluated {
  double value = not_given, sigma = not_given;
  double modulus = not_given;    ///< size of the impedance that a relative floor refers to
  double phase_deg = not_given;  ///< folded; NaN where the datum has no quadrant
  bool interpolated = false;
  bool stated = false;  ///< the station holds a number for the datum, or for an element that it is made of
};
/// Evaluates the rules of data at one station.
class StationEvaluator {
 public:
  StationEvaluator(const StationData& station, const std::vector<double>& frequencies_hz,
                   const Selection& selection);
  [[nodiscard]] Evaluated at(Datum datum, double frequency_hz) const;

 private:
  void take_reading(Datum datum, double frequency_hz, Evaluated& out) const;
  const StationData& station_;
  std::vector<StationRow> interpolated_;
  bool interpolates_;
  double tolerance_;
};

/// Returns σ after the last floor that contains the datum.
[[nodiscard]] double with_floor(const Evaluated& datum, Datum which, const StationData& station,
                                double frequency_hz, const Selection& selection);
/// Returns whether the phase of a datum lies outside the limits, whatever its mode.
[[nodiscard]] bool is_out_of_quadrant(const Evaluated& datum, const Selection& selection);
/// Returns the first reason for which the datum is not used, or kept.
[[nodiscard]] MaskReason reason_of(const Evaluated& datum, double sigma, Datum which,
                                   const StationData& station, double frequency_hz,
                                   const Selection& selection);

}  // namespace lodestone::physics::mt
