// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the log and every reader and writer of texts need it, and nothing else of each other.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lodestone::core {

/// Returns the length of the UTF-8 sequence at the front of a text, or 0 where none stands there: also for
/// overlong sequences, surrogates and U+FFFE, U+FFFF, which XML excludes. source: RFC 3629.
[[nodiscard]] std::size_t utf8_length(std::string_view text);
/// Returns whether the sequence at the front of a text, of this length, is a control character (C0, delete or
/// C1).
[[nodiscard]] bool is_control(std::string_view text, std::size_t length);

/// Returns bytes of any encoding as UTF-8. Bytes that are none are read as Windows-1252, which contains
/// Latin-1. Control characters other than ends of lines and tabs become spaces, so that no text from a file
/// reaches a terminal as a command.
[[nodiscard]] std::string clean_text(std::string_view bytes);
/// Returns the same without ends of lines and tabs: they become spaces too.
[[nodiscard]] std::string clean_line(std::string_view bytes);
/// Returns the bytes of Windows-1252 that are read as this text; empty where it has no such bytes, or is no
/// UTF-8.
[[nodiscard]] std::string windows_1252_of(std::string_view text);

}  // namespace lodestone::core
