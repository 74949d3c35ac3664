// SPDX-License-Identifier: Apache-2.0
// Small on purpose: every format of files has a header of its own.
#pragma once

#include "physics/mt/station_data.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace lodestone::io::mt2d {

/// Reads a text file of the format `MT2DData_1.0` (HMCMT2D): receivers y and z in m, frequencies, and rows of
/// one component each.
///
/// `DataType: Impedance`: components ZXY, ZYX in ohm, e^{+iωt}, one error for both parts, as rows. `DataType:
/// Rho_Pha`: RhoXY, PhsXY, RhoYX, PhsYX in ohm m and degrees, as readings; ρₐ becomes log10 ρₐ with
/// σ/(ρₐ ln 10), phases are taken as they stand. Stations are named 1, 2, … as in the rows. errors:
/// FileError, FormatError with file:line (another format, unknown word, number out of range, file cut off).
[[nodiscard]] std::vector<physics::mt::StationData> read_data(const std::string& path);

/// Returns whether the bytes start such a file.
[[nodiscard]] bool is_mt2d_data(std::string_view bytes);

}  // namespace lodestone::io::mt2d
