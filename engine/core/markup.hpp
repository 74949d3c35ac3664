// SPDX-License-Identifier: Apache-2.0
// Small on purpose: writers of pages and pictures escape texts without scanning any.
#pragma once

#include <string>
#include <string_view>

namespace lodestone::core {

/// Returns the text fit for HTML and XML content and attributes; bytes that are not UTF-8 and control
/// characters become '?'.
[[nodiscard]] std::string escaped(std::string_view text);

}  // namespace lodestone::core
