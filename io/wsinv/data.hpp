// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/conventions.hpp"
#include "physics/mt/holdings.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lodestone::io::wsinv {

/// Returns the elements of a file with so many real numbers per station and period: 4, 8 or 12; empty for
/// another number.
[[nodiscard]] std::span<const physics::mt::Element> elements_of(int n_numbers);

/// Reads the stations of a data file of WSINV3DMT, in ohm and, unless `chosen` states another sign or unit,
/// e^{-iωt}. Stations are named 1, 2, … and stand at x to the north and y to the east in m.
///
/// σ of each part is the root mean square of the two errors that the file states. Each is multiplied by its
/// number in the map of errors, if there is one. Errors that are not above 0 count as none, and values of
/// exactly 0 as missing. Remarks count both. errors: FileError, FormatError with file:line (another format, a
/// number that is none, a period out of range or without data, file cut off). source: Siripunvaraporn et al.
/// 2005 (Phys. Earth Planet. Inter. 150, 3).
[[nodiscard]] std::vector<physics::mt::StationData> read_data(const std::string& path,
                                                              const physics::mt::Conventions& chosen = {});

/// Returns whether the bytes start such a file.
[[nodiscard]] bool is_wsinv_data(std::string_view bytes);

/// Returns the text of a data file in ohm and e^{-iωt}, and in words what it does not hold. Stations have
/// their x and y. Rows stand in the frame of x; one is written per frequency of any station.
/// Missing values are written as 0 with an error of 1e10, and so is a missing error. What was read is read
/// back bit for bit. errors: InvalidArgument for stations without impedances.
[[nodiscard]] physics::mt::Written text_of(const std::vector<physics::mt::StationData>& stations);

}  // namespace lodestone::io::wsinv
