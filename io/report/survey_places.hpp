// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/geodesy/projection.hpp"
#include "physics/mesh/frame.hpp"
#include "physics/mt/profile.hpp"
#include "physics/mt/station_data.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace lodestone::io::report {

/// The stations of a survey whose place on a map is known.
struct SurveyMap {
  std::vector<std::size_t> stations{};       ///< their indices in the survey
  std::vector<physics::mesh::Site> sites{};  ///< x grid north, y grid east
  /// Azimuth of true north in the grid at each, to be added to azimuths that are drawn.
  std::vector<double> north_deg{};
  std::optional<geodesy::Projection>
      projection{};  ///< absent: coordinates of a file without a place on Earth
};

/// Returns the map of the stations that have latitude and longitude. Where fewer have them than stand in the
/// local frame of the first file that has one, these are taken. A latitude and longitude of 0, 0 is none.
[[nodiscard]] SurveyMap map_of(const std::vector<physics::mt::StationData>& stations);

/// The stations that a section shows.
struct SurveyLine {
  std::vector<std::size_t> stations{};   ///< their indices in the survey, along the line
  std::vector<double> y_m{};             ///< place of each along the line
  double azimuth_deg = 90.0;             ///< direction of the line
  double strike_deg = 0.0;               ///< azimuth of the x axis, along strike
  std::optional<double> half_width_m{};  ///< largest distance from the line; absent: not known
  std::size_t n_beside = 0;              ///< stations farther from it, which are left out
  physics::mt::PlanePoint from{}, to{};  ///< ends of the line on the map
};

/// Returns the line through the stations of a map, or that of stations which their files place along one.
/// Stations within half of `width_m` of it are taken; 0: a fifth of its length. Nothing where fewer than two
/// stations stand apart. errors: those of `make_profile`.
[[nodiscard]] std::optional<SurveyLine> line_of(const std::vector<physics::mt::StationData>& stations,
                                                const SurveyMap& map,
                                                const physics::mt::ProfileOptions& options, double width_m);

}  // namespace lodestone::io::report
