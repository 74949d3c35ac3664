// SPDX-License-Identifier: Apache-2.0
#include "engine/core/markup.hpp"

#include "engine/core/clean_text.hpp"

namespace lodestone::core {

std::string escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const char c = text[0];
    if (length == 0 || (is_control(text, length) && c != '\n' && c != '\t')) {
      result += '?';
    } else if (length > 1) {
      result += text.substr(0, length);
    } else {
      switch (c) {
        case '&':
          result += "&amp;";
          break;
        case '<':
          result += "&lt;";
          break;
        case '>':
          result += "&gt;";
          break;
        case '"':
          result += "&quot;";
          break;
        default:
          result += c;
      }
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

}  // namespace lodestone::core
