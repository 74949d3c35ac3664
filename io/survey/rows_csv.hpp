// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one table.
#pragma once

#include "physics/mt/holdings.hpp"

#include <string>
#include <vector>

namespace lodestone::io::survey {

/// Returns transfer functions as a table, one row per station and frequency:
/// `site,latitude_deg,longitude_deg,
/// elevation_m,frequency_hz,azimuth_deg,Zxx_re_ohm,Zxx_im_ohm,Zxx_error_ohm,…,Tzy_error`; empty field =
/// missing. Errors are those of each part; `azimuth_deg` is that of the x axis.
[[nodiscard]] physics::mt::Written rows_csv_text(const std::vector<physics::mt::StationData>& stations);
/// Reads such a table; columns in any order, and only those that are there; `period_s` serves as well.
/// errors: FileError, FormatError with file:line (no column of sites or frequencies, a senseless number, a
/// frequency twice).
[[nodiscard]] std::vector<physics::mt::StationData> read_rows_csv(const std::string& path);

}  // namespace lodestone::io::survey
