// SPDX-License-Identifier: Apache-2.0
// Private: shared by the tables of this folder and of the folders that own what a table holds.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lodestone::io::csv {

/// The fields of a table with a header line; rows carry their line numbers.
struct Rows {
  std::vector<std::string> header{};
  int header_line = 1;
  std::vector<std::pair<int, std::vector<std::string>>> rows{};
};

/// Passes the fields of a file on line by line, first the header line, and keeps none of them. `visit` takes
/// the number of the line. errors: those of `read_rows`.
void visit_rows(const std::string& path, const char* component,
                const std::function<void(int, std::vector<std::string>&&)>& visit);
/// Reads the fields of a file; empty lines and those that begin with # are left out. errors: FileError;
/// FormatError with file:line, `component` as its source, on a row with another number of fields.
[[nodiscard]] Rows read_rows(const std::string& path, const char* component);

/// Returns the number in a field. errors: FormatError with file:line and column, `component` as its source,
/// unless it is finite.
[[nodiscard]] double real_field(const std::string& text, const std::string& path, int line,
                                const char* component, std::string_view column);

/// Returns a field, in quotes where it holds a comma or a quote; quotes within it are doubled.
[[nodiscard]] std::string quoted_if_needed(const std::string& text);

}  // namespace lodestone::io::csv
