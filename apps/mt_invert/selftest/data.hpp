// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace lodestone::mt_invert::selftest {

/// Returns the path of a file that comes with the program: in $LODESTONE_DATA, beside the installed program
/// (share/lodestone), or in the source tree. errors: FileError that lists the places looked at.
[[nodiscard]] std::string data_file(const std::string& name);

/// A comma-separated table with one header line.
class BenchmarkTable {
 public:
  /// Reads a file. errors: FileError, FormatError with file:line.
  explicit BenchmarkTable(std::string path);
  [[nodiscard]] std::size_t n_rows() const { return rows_.size(); }
  /// Returns a field. errors, also of the two below: FormatError.
  [[nodiscard]] const std::string& text(std::size_t row, const std::string& column) const;
  [[nodiscard]] double number(std::size_t row, const std::string& column) const;
  /// Returns the numbers of a field that are separated by blanks.
  [[nodiscard]] std::vector<double> numbers(std::size_t row, const std::string& column) const;

 private:
  std::string path_;
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace lodestone::mt_invert::selftest
