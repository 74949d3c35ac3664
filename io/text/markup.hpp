// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace lodestone::io::text {

/// Text fit for HTML and XML content and attributes; bytes that are not UTF-8 and control characters become
/// '?'.
[[nodiscard]] std::string escaped(std::string_view text);

}  // namespace lodestone::io::text
