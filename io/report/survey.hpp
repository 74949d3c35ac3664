// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the entry to the pictures of surveys, without their parts.
#pragma once

#include "io/report/ellipses.hpp"
#include "physics/mt/analysis/induction.hpp"
#include "physics/mt/profile.hpp"
#include "physics/mt/station_data.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace lodestone::io::report {

/// The choices of the report of a survey.
struct SurveyOptions {
  std::vector<double>
      periods_s{};  ///< periods of the maps; empty: decades that most stations cover, six at most
  physics::mt::ArrowConvention arrows = physics::mt::ArrowConvention::parkinson;
  EllipseFill ellipses = EllipseFill::skew;
  physics::mt::ProfileOptions line{};  ///< line of the sections, and the strike of their tensors
  double line_width_m = 0.0;  ///< stations within half of it are on the line; 0: a fifth of its length
  std::size_t stations_per_page =
      24;  ///< sounding curves on one page; those of more stations have pages of their own
};

/// Writes `report.html` and `pictures/*.png` of a survey into a folder, which is made. Sounding curves of
/// many stations stand in `soundings_N.html` beside it. What the stations lack is said in the place of its
/// picture. returns: the path of the page. `made`: a sentence on program and time. errors: FileError,
/// InvalidArgument without stations, those of `mt::check`.
std::filesystem::path write_survey_report(const std::filesystem::path& folder,
                                          const std::vector<physics::mt::StationData>& stations,
                                          const SurveyOptions& options, const std::string& title,
                                          const std::string& made);

}  // namespace lodestone::io::report
