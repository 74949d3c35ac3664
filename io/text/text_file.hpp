// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lodestone::io::text {

/// The whole file as bytes. errors: FileError (missing, a folder, unreadable, larger than 2 GiB).
[[nodiscard]] std::string read_bytes(const std::string& path);
/// At most the first n bytes. errors: as above, but any size.
[[nodiscard]] std::string read_bytes_up_to(const std::string& path, std::size_t n);

/// Writes to a temporary name in the same folder, flushes, then renames: readers see the old file or the
/// whole new one. Makes missing parent folders. errors: FileError (full disk, no permission); the temporary
/// file is removed.
void write_bytes_atomically(const std::string& path, std::string_view bytes);

/// Returns 16 hexadecimal digits that tell contents apart which were not made to look alike. source: FNV-1a
/// of 64 bits.
[[nodiscard]] std::string digest_of(std::string_view bytes);
/// Returns the digest of a file. errors: FileError.
[[nodiscard]] std::string digest_of_file(const std::string& path);

/// Lines without their ends (LF, CRLF or lone CR), a byte-order mark removed.
[[nodiscard]] std::vector<std::string_view> split_lines(std::string_view bytes);

}  // namespace lodestone::io::text
