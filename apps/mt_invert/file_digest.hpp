// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lodestone::mt_invert {

/// 16 hexadecimal digits that tell the contents of files apart which were not made to look alike (FNV-1a). errors: FileError.
[[nodiscard]] std::string digest_of_file(const std::string& path);

}  // namespace lodestone::mt_invert
