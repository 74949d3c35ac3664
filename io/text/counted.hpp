// SPDX-License-Identifier: Apache-2.0
// Small on purpose: messages of any folder count things.
#pragma once

#include <cstddef>
#include <string>

namespace lodestone::io::text {

/// Returns a number and what it counts: "1 station", "2 stations".
[[nodiscard]] inline std::string counted(std::size_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

}  // namespace lodestone::io::text
