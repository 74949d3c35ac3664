// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one file of a run.
#pragma once

#include "inversion/outcome.hpp"

#include <filesystem>

namespace lodestone::io::run {

// The layout of the arrays stands in inversion/outcome_arrays.cpp; this folder opens files and reads
// version 1.

/// Writes `result.h5` of version 2 (docs/result-file.md). errors: FileError (nothing half-written is left);
/// ShapeError when parts do not fit together.
void write_result(const std::filesystem::path& path, const inversion::Outcome& outcome);
/// Reads a result file of version 1 or 2. errors: FileError; FormatError (not a result file, cut off, parts
/// do not fit).
[[nodiscard]] inversion::Outcome read_result(const std::filesystem::path& path);

}  // namespace lodestone::io::run
