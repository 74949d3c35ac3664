// SPDX-License-Identifier: Apache-2.0
#include "io/csv/table.hpp"

#include "engine/core/error.hpp"
#include "io/csv/rows.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"

#include <algorithm>
#include <limits>

namespace lodestone::io::csv {
namespace {

std::string field_of(const core::Table::Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) return text::shortest(*number, "");
  return quoted_if_needed(std::get<std::string>(cell));
}

bool is_number_or_empty(const std::string& field) { return field.empty() || text::number(field); }

core::Table::Column column_of(const Rows& rows, std::size_t at) {
  core::Table::Column column{.name = rows.header[at], .units = "", .values = core::Table::Texts{}};
  const bool is_numbers =
      std::ranges::all_of(rows.rows, [at](const auto& row) { return is_number_or_empty(row.second[at]); });
  const bool is_empty =
      std::ranges::all_of(rows.rows, [at](const auto& row) { return row.second[at].empty(); });
  if (is_numbers && (!is_empty || rows.rows.empty())) {
    auto& numbers = column.values.emplace<core::Table::Numbers>();
    for (const auto& [line, fields] : rows.rows)
      numbers.push_back(text::number(fields[at]).value_or(std::numeric_limits<double>::quiet_NaN()));
    return column;
  }
  auto& texts = std::get<core::Table::Texts>(column.values);
  for (const auto& [line, fields] : rows.rows) texts.push_back(fields[at]);
  return column;
}

}  // namespace

void write_table(const std::string& path, const core::Table& table) {
  std::vector<std::string> fields;
  for (const std::string& name : table.names()) fields.push_back(quoted_if_needed(name));
  std::string text = fmt::format("{}\n", fmt::join(fields, ","));
  for (std::size_t row = 0; row < table.n_rows(); ++row) {
    fields.clear();
    for (const core::Table::Cell& cell : table.row(row)) fields.push_back(field_of(cell));
    text += fmt::format("{}\n", fmt::join(fields, ","));
  }
  text::write_bytes_atomically(path, text);
}

core::Table read_table(const std::string& path) {
  const Rows rows = read_rows(path, "io::csv::read_table");
  if (rows.header.empty())
    throw core::FormatError("io::csv::read_table#no_header",
                            "{}:1: expected a header line with the names of the columns, but the file has no "
                            "line; add one above the rows",
                            path);
  core::Table table;
  table.set_origin(path);
  for (std::size_t at = 0; at < rows.header.size(); ++at) {
    try {
      table.add(column_of(rows, at));
    } catch (const core::Error& error) {
      throw core::FormatError("io::csv::read_table#bad_name", "{}:{}: column {} of the header line: {}", path,
                              rows.header_line, at + 1, error.what());
    }
  }
  return table;
}

}  // namespace lodestone::io::csv
