// SPDX-License-Identifier: Apache-2.0
// Small on purpose: keeps the generated build facts out of all files that print them.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace lodestone::core {

[[nodiscard]] std::string version();
/// Returns facts of the build in a fixed order: version, commit, compiler, build type, flags, and each
/// third-party library with its version. The commit is that of the last build, "-dirty" with changes and
/// "unknown" outside a checkout. Optional libraries that were not found are "absent".
[[nodiscard]] const std::vector<std::pair<std::string, std::string>>& build_info();

}  // namespace lodestone::core
