// SPDX-License-Identifier: Apache-2.0
// Small on purpose: from stations to what pictures of data take.
#pragma once

#include "io/report/mt_data.hpp"
#include "io/report/survey_places.hpp"

#include <vector>

namespace lodestone::io::report {

/// Returns all data of some stations, in this order, as sounding curves show them: tensors with x to the
/// north, phase tensors, and values without errors as well. `stations`: with x to the north.
[[nodiscard]] ShownData sounding_data(const std::vector<physics::mt::StationData>& stations,
                                      const std::vector<std::size_t>& chosen);

/// Returns the data along a line as pseudosections show them: tensors in the frame of its strike,
/// interpolated to so many even periods a decade. Values that a file states as such keep their periods.
/// `stations`: with x to the north.
[[nodiscard]] ShownData line_data(const std::vector<physics::mt::StationData>& stations,
                                  const SurveyLine& line, int per_decade);

}  // namespace lodestone::io::report
