// SPDX-License-Identifier: Apache-2.0
// Inside of engine/state: the JSON header of a safetensors file.
#pragma once

#include "engine/core/array_io.hpp"

#include <map>
#include <string>
#include <string_view>

namespace lodestone::engine::safetensors {

/// The place of an array in the data that follow the header.
struct Entry {
  core::ArrayInfo info;
  std::uint64_t begin = 0, end = 0;
};

struct Header {
  std::map<std::string, Entry> arrays;
  std::map<std::string, std::string> metadata;  ///< attributes, "key" or "object@key"
};

inline constexpr std::string_view metadata_name = "__metadata__";
inline constexpr std::uint64_t most_header_bytes = 100'000'000;  ///< the format's limit
inline constexpr std::string_view checksum_key =
    "crc32c";  ///< "array@crc32c": of the array's bytes; "crc32c", the first of all: of the header
inline constexpr std::string_view dtype_key =
    "dtype";  ///< "array@dtype": c64 or c128, whose numbers are stored as pairs

/// Returns "object@key", "key" for the root.
[[nodiscard]] std::string metadata_key(const std::string& object, std::string_view key);
/// Returns eight hexadecimal digits.
[[nodiscard]] std::string checksum_text(std::uint32_t checksum);

/// Returns the header as it stands in the file, its own checksum put in. Blanks fill it so that the data
/// begin at a multiple of 8. errors: InvalidArgument for a name or text that is no UTF-8, or a header past
/// the limit.
[[nodiscard]] std::string compose(const Header& header, const std::string& path);
/// Parses a header. errors: FormatError for text that is not a header of `n_data` bytes of data without gap
/// or overlap.
[[nodiscard]] Header parse(std::string_view text, std::uint64_t n_data, const std::string& path);

/// Places the arrays one after the other, the widest elements first, so that each begins at a multiple of its
/// element.
void place(Header& header);

}  // namespace lodestone::engine::safetensors
