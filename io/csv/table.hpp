// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one pair of functions, for tables of any kind.
#pragma once

#include "engine/core/table.hpp"

#include <string>

namespace lodestone::io::csv {

/// Writes a table: a header line of names, then a line per row. Numbers stand in the shortest text that reads
/// back the same; NaN is an empty field. Units are not written. errors: FileError.
void write_table(const std::string& path, const core::Table& table);
/// Reads a table with a header line of names. A column whose fields are all numbers or empty (NaN) holds
/// numbers, any other texts. errors: FileError; FormatError with file:line (no header line, names that are
/// empty or stand twice, a row of another length).
[[nodiscard]] core::Table read_table(const std::string& path);

}  // namespace lodestone::io::csv
