// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace lodestone::mt_invert::method {

/// 16 hexadecimal digits that tell contents apart which were not made to look alike: FNV-1a of 64 bits.
[[nodiscard]] std::string digest_of(std::string_view bytes);
/// The same of a file. errors: FileError.
[[nodiscard]] std::string digest_of_file(const std::string& path);

}  // namespace lodestone::mt_invert::method
