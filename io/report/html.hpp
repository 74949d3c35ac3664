// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace lodestone::io::report {

/// A table whose first row is the head when `head` is not empty. Cells are escaped.
[[nodiscard]] std::string html_table(const std::vector<std::string>& head,
                                     const std::vector<std::vector<std::string>>& rows);

}  // namespace lodestone::io::report
