// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lodestone::io::report {

/// Text fit for HTML and XML content and attributes; bytes that are not UTF-8 and control characters become '?'.
[[nodiscard]] std::string escaped(std::string_view text);

/// A table whose first row is the head when `head` is not empty. Cells are escaped.
[[nodiscard]] std::string html_table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows);

}  // namespace lodestone::io::report
