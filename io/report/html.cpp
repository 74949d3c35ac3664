// SPDX-License-Identifier: Apache-2.0
#include "io/report/html.hpp"

#include "engine/core/markup.hpp"

namespace lodestone::io::report {

namespace {

void append_row(std::string& to, const std::vector<std::string>& cells, const char* tag) {
  to += "<tr>";
  for (const std::string& cell : cells) {
    to.append("<").append(tag).append(">").append(core::escaped(cell)).append("</").append(tag).append(">");
  }
  to += "</tr>\n";
}

}  // namespace

std::string html_table(const std::vector<std::string>& head,
                       const std::vector<std::vector<std::string>>& rows) {
  std::string text = "<table>\n";
  if (!head.empty()) {
    append_row(text, head, "th");
  }
  for (const auto& row : rows) {
    append_row(text, row, "td");
  }
  return text + "</table>\n";
}

}  // namespace lodestone::io::report
