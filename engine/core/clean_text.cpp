// SPDX-License-Identifier: Apache-2.0
#include "engine/core/clean_text.hpp"

#include <algorithm>
#include <array>

namespace lodestone::core {
namespace {

unsigned char byte_of(char c) { return static_cast<unsigned char>(c); }

/// Returns a character below U+10000 as UTF-8.
std::string utf8_of(char32_t code) {
  const auto tail = [code](unsigned shift) { return static_cast<char>(0x80U | ((code >> shift) & 0x3FU)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xC0U | (code >> 6U)), tail(0)};
  return {static_cast<char>(0xE0U | (code >> 12U)), tail(6), tail(0)};
}

/// Returns what a byte of 0x80 or above means in Windows-1252; five of them mean nothing.
char32_t windows_1252(unsigned char byte) {
  constexpr std::array<char32_t, 32> codes{0x20AC, 0xFFFD, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                           0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0xFFFD, 0x017D, 0xFFFD,
                                           0xFFFD, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                           0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0xFFFD, 0x017E, 0x0178};
  return byte < 0xA0 ? codes.at(byte - 0x80U) : byte;
}

/// Cleans a text; `kept` are the control characters that stay.
std::string cleaned(std::string_view bytes, std::string_view kept) {
  const auto is_plain = [kept](char c) {
    return (c >= ' ' && c <= '~') || kept.find(c) != std::string_view::npos;
  };
  const auto first = std::find_if_not(bytes.begin(), bytes.end(), is_plain);
  std::string text(bytes.begin(), first);
  for (bytes.remove_prefix(text.size()); !bytes.empty();) {
    const std::size_t length = utf8_length(bytes);
    if (length == 0) {
      text += utf8_of(windows_1252(byte_of(bytes.front())));
    } else if (is_control(bytes, length) && kept.find(bytes.front()) == std::string_view::npos) {
      text += ' ';
    } else {
      text += bytes.substr(0, length);
    }
    bytes.remove_prefix(std::max<std::size_t>(1, length));
  }
  return text;
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const unsigned char lead = byte_of(text[0]);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xC2 && lead < 0xE0   ? 2
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xF0 && lead < 0xF5 ? 4
                                                           : 0;
  if (length == 0 || length > text.size()) return 0;
  char32_t code = lead & (0x7FU >> length);
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte_of(text[k]) & 0xC0U) != 0x80U) return 0;
    code = (code << 6U) | (byte_of(text[k]) & 0x3FU);
  }
  const bool is_overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool is_excluded = (code >= 0xD800 && code < 0xE000) || code == 0xFFFE || code == 0xFFFF;
  return is_overlong || is_excluded || code > 0x10FFFF ? 0 : length;
}

bool is_control(std::string_view text, std::size_t length) {
  if (length == 1) return byte_of(text[0]) < 0x20 || byte_of(text[0]) == 0x7F;
  return length == 2 && byte_of(text[0]) == 0xC2 && byte_of(text[1]) < 0xA0;
}

std::string clean_text(std::string_view bytes) { return cleaned(bytes, "\n\r\t"); }

std::string clean_line(std::string_view bytes) { return cleaned(bytes, {}); }

std::string windows_1252_of(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 1) {
      bytes += text.front();
    } else {
      unsigned byte = 0x80;
      while (byte <= 0xFF &&
             utf8_of(windows_1252(static_cast<unsigned char>(byte))) != text.substr(0, length))
        ++byte;
      if (length == 0 || byte > 0xFF) return {};
      bytes += static_cast<char>(byte);
    }
    text.remove_prefix(length);
  }
  return bytes;
}

}  // namespace lodestone::core
