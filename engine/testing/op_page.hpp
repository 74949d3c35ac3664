// SPDX-License-Identifier: Apache-2.0
// Small on purpose: pages of ops are printed by other programs than the checks.
#pragma once

#include <string>
#include <string_view>

namespace lodestone::engine {

/// Returns the documentation page of an op, the engine's own or a user's, as Markdown: the contents of its
/// row, and the shapes of the results of its samples. errors: InvalidArgument for a name that is not in the
/// table.
[[nodiscard]] std::string op_page(std::string_view name);

}  // namespace lodestone::engine
