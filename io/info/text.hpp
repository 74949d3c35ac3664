// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/info/info.hpp"

#include <string>
#include <vector>

namespace lodestone::io::info {

/// The contract's JSON: an array with one object per file; null = the file does not say.
[[nodiscard]] std::string info_json(const std::vector<io::info::FileInfo>& files);
/// The same for people.
[[nodiscard]] std::string info_text(const std::vector<io::info::FileInfo>& files);

}  // namespace lodestone::io::info
