// SPDX-License-Identifier: Apache-2.0
// Small on purpose: pages and tables need the HTML of a table, no pictures.
#pragma once

#include <string>
#include <vector>

namespace lodestone::io::report {

/// Returns a table whose first row is the head when `head` is not empty. Cells are escaped.
[[nodiscard]] std::string html_table(const std::vector<std::string>& head,
                                     const std::vector<std::vector<std::string>>& rows);

}  // namespace lodestone::io::report
