// SPDX-License-Identifier: Apache-2.0
// Small on purpose: who reads files of one station needs no store.
#pragma once

#include "engine/core/array_io.hpp"
#include "physics/mt/station_data.hpp"

#include <filesystem>
#include <vector>

namespace lodestone::io::survey {

/// Returns true for an HDF5 file that `write_survey` wrote.
[[nodiscard]] bool is_survey(const core::ArraySource& source);

/// Writes a survey as one HDF5 file, which holds all that stations have; docs/survey-file.md has its layout.
/// errors: FileError.
void write_survey(const std::filesystem::path& path, const std::vector<physics::mt::StationData>& stations);
/// Reads such a file; all numbers have the bits that were written. errors: FileError, FormatError.
[[nodiscard]] std::vector<physics::mt::StationData> read_survey(const std::filesystem::path& path);

}  // namespace lodestone::io::survey
