// SPDX-License-Identifier: Apache-2.0
// Small on purpose: keeps the generated build facts out of all files that print them.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace lodestone::core {

[[nodiscard]] std::string version();
/// Facts of the build in a fixed order: version, commit (of the last build; "-dirty" with changes, "unknown"
/// outside a checkout), compiler, build type, flags, and each third-party library with its version ("absent"
/// for optional ones that were not found).
[[nodiscard]] const std::vector<std::pair<std::string, std::string>>& build_info();

}  // namespace lodestone::core
