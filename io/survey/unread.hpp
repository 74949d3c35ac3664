// SPDX-License-Identifier: Apache-2.0
// Small on purpose: files that are recognized but not read have one list, for every command.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lodestone::io::survey {

/// Returns what a file is and which one to give instead, by its first bytes, where its kind is known but not
/// read; nothing for any other file. `path`: where files lie that it names; empty: nowhere.
[[nodiscard]] std::optional<std::string> unread_kind(std::string_view bytes, const std::string& path = "");

/// Returns what bytes are and how to unpack them, where they are compressed or text in UTF-16; nothing for
/// any others.
[[nodiscard]] std::optional<std::string> packed_kind(std::string_view bytes);

/// Refuses a file of such a kind. errors: FileError; FormatError with what the file is and what to give.
void refuse_unread(const std::string& path);

}  // namespace lodestone::io::survey
