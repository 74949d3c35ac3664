// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/selftest/data.hpp"

#include "engine/core/error.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace lodestone::mt_invert::selftest {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> fields;
  while (true) {
    const auto comma = line.find(',');
    fields.emplace_back(io::text::trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

std::vector<fs::path> data_folders() {
  std::vector<fs::path> folders;
  if (const char* chosen = std::getenv("LODESTONE_DATA")) folders.emplace_back(chosen);
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  if (!program.empty()) folders.push_back(program.parent_path().parent_path() / "share" / "lodestone");
  folders.emplace_back(LODESTONE_SOURCE_DATA);
  return folders;
}

}  // namespace

std::string data_file(const std::string& name) {
  std::string tried;
  for (const fs::path& folder : data_folders()) {
    const fs::path path = folder / name;
    if (fs::exists(path)) return path.string();
    tried += (tried.empty() ? "" : ", ") + path.string();
  }
  throw core::FileError(
      "mt_invert#no_bundled_file",
      "expected the bundled file {} at one of: {}; set LODESTONE_DATA to the folder that holds it", name,
      tried);
}

BenchmarkTable::BenchmarkTable(std::string path) : path_(std::move(path)) {
  const std::string bytes = io::text::read_bytes(path_);
  int number = 0;
  for (const auto line : io::text::split_lines(bytes)) {
    ++number;
    if (io::text::trimmed(line).empty()) continue;
    auto fields = split(line);
    if (header_.empty()) {
      header_ = std::move(fields);
    } else if (fields.size() == header_.size()) {
      rows_.push_back(std::move(fields));
    } else {
      throw core::FormatError("mt_invert#wrong_number_of_columns", "{}:{}: expected {} columns, got {}",
                              path_, number, header_.size(), fields.size());
    }
  }
}

const std::string& BenchmarkTable::text(std::size_t row, const std::string& column) const {
  const auto found = std::ranges::find(header_, column);
  if (found == header_.end())
    throw core::FormatError("mt_invert#no_column", "{}:1: the table has no column {}", path_, column);
  return rows_[row][static_cast<std::size_t>(found - header_.begin())];
}

std::vector<double> BenchmarkTable::numbers(std::size_t row, const std::string& column) const {
  std::vector<double> values;
  for (const auto word : io::text::words(text(row, column))) {
    const auto value = io::text::number(word);
    if (!value)
      throw core::FormatError("mt_invert#not_a_number", "{}: expected numbers in column {}, got \"{}\"",
                              path_, column, io::text::printable(word));
    values.push_back(*value);
  }
  return values;
}

double BenchmarkTable::number(std::size_t row, const std::string& column) const {
  const auto values = numbers(row, column);
  if (values.size() != 1)
    throw core::FormatError("mt_invert#not_one_number", "{}: expected one number in column {}, got \"{}\"",
                            path_, column, text(row, column));
  return values.front();
}

}  // namespace lodestone::mt_invert::selftest
