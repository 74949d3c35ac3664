// SPDX-License-Identifier: Apache-2.0
// Small on purpose: writes a JSON text without including a JSON library.
#pragma once

#include <string>
#include <string_view>

namespace lodestone::core {

/// Returns the text as a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string json_quoted(std::string_view text);

}  // namespace lodestone::core
