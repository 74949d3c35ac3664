// SPDX-License-Identifier: Apache-2.0
#include "io/csv/rows.hpp"

#include "engine/core/error.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"

#include <cmath>

namespace lodestone::io::csv {
namespace {

std::string unquoted(std::string_view field) {
  field = text::trimmed(field);
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"')
    field = field.substr(1, field.size() - 2);
  std::string text(field);
  for (std::size_t at = text.find("\"\""); at != std::string::npos; at = text.find("\"\"", at + 1))
    text.erase(at, 1);
  return text;
}

/// Returns the fields of a line; commas inside double quotes do not separate.
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields;
  std::size_t begin = 0;
  bool quoted = false;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && line[i] == '"') quoted = !quoted;
    if (i == line.size() || (line[i] == ',' && !quoted)) {
      fields.push_back(unquoted(line.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  return fields;
}

}  // namespace

void visit_rows(const std::string& path, const char* component,
                const std::function<void(int, std::vector<std::string>&&)>& visit) {
  const std::string bytes = text::read_text(path);
  std::size_t n_fields = 0;
  int line = 0;
  for (const auto text : text::split_lines(bytes)) {
    ++line;
    if (text::trimmed(text).empty() || text::trimmed(text).front() == '#') continue;
    auto fields = fields_of(text);
    if (n_fields == 0) n_fields = fields.size();
    if (fields.size() != n_fields)
      throw core::FormatError(std::string(component) + "#wrong_fields",
                              "{}:{}: expected {} fields as in the header line, got {}", path, line, n_fields,
                              fields.size());
    visit(line, std::move(fields));
  }
}

Rows read_rows(const std::string& path, const char* component) {
  Rows table;
  visit_rows(path, component, [&](int line, std::vector<std::string>&& fields) {
    if (!table.header.empty()) {
      table.rows.emplace_back(line, std::move(fields));
      return;
    }
    table.header = std::move(fields);
    table.header_line = line;
  });
  return table;
}

double real_field(const std::string& text, const std::string& path, int line, const char* component,
                  std::string_view column) {
  const auto value = text::number(text);
  if (!value || !std::isfinite(*value)) {
    throw core::FormatError(std::string(component) + "#not_a_number",
                            "{}:{}: expected a number in column {}, got \"{}\"", path, line, column,
                            text::printable(text));
  }
  return *value;
}

std::string quoted_if_needed(const std::string& text) {
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = text;
  for (std::size_t at = quoted.find('"'); at != std::string::npos; at = quoted.find('"', at + 2))
    quoted.insert(at, 1, '"');
  return "\"" + quoted + "\"";
}

}  // namespace lodestone::io::csv
