// SPDX-License-Identifier: Apache-2.0
// Small on purpose: readers keep no lines; this finds those that findings are about.
#pragma once

#include "physics/mt/analysis/check.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace lodestone::io::survey {

/// Returns the one line, counted from 1, at which a file of this format begins a part; nothing where no line
/// or more than one does so. EDI, EMTF XML, J-format and Z-files have such lines.
[[nodiscard]] std::optional<std::size_t> line_of(std::string_view file, std::string_view format,
                                                 physics::mt::FilePart part);

/// Adds lines to the places of findings where the files of their stations are there and show them. Stations
/// that were changed since they were read are left out, as are files that hold several.
void add_lines(std::vector<physics::mt::Finding>& findings,
               const std::vector<physics::mt::StationData>& stations);

}  // namespace lodestone::io::survey
