// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/info/file_info.hpp"

#include <string>
#include <vector>

namespace lodestone::mt_invert {

/// The contract's JSON: an array with one object per file; null = the file does not say.
[[nodiscard]] std::string info_json(const std::vector<io::FileInfo>& files);
/// The same for people.
[[nodiscard]] std::string info_text(const std::vector<io::FileInfo>& files);

}  // namespace lodestone::mt_invert
