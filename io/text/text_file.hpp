// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lodestone::io::text {

/// Returns the whole file as bytes. errors: FileError (missing, no regular file, unreadable, larger than
/// 1 GiB).
[[nodiscard]] std::string read_bytes(const std::string& path);
/// Returns the whole file as a text in UTF-8: bytes that are none are read as Windows-1252, and control
/// characters other than ends of lines and tabs become spaces. errors: those of `read_bytes`.
[[nodiscard]] std::string read_text(const std::string& path);
/// Returns at most the first n bytes of a file of any size. errors: FileError (missing, no regular
/// file, unreadable).
[[nodiscard]] std::string read_bytes_up_to(const std::string& path, std::size_t n);

/// Writes to a temporary name in the same folder, flushes, then renames: readers see the old file or the
/// whole new one. Makes missing parent folders. errors: FileError (full disk, no permission); the temporary
/// file is removed.
void write_bytes_atomically(const std::string& path, std::string_view bytes);

/// Returns 16 hexadecimal digits that differ for different contents, unless these were made to collide.
/// source: FNV-1a of 64 bits.
[[nodiscard]] std::string digest_of(std::string_view bytes);
/// Returns the digest of a file of any size. errors: FileError.
[[nodiscard]] std::string digest_of_file(const std::string& path);

/// Returns the lines without their ends (LF, CRLF or lone CR) and without a byte-order mark.
[[nodiscard]] std::vector<std::string_view> split_lines(std::string_view bytes);

}  // namespace lodestone::io::text
