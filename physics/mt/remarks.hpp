// SPDX-License-Identifier: Apache-2.0
// Small on purpose: readers write this mark and `check` looks for it.
#pragma once

#include <string_view>

namespace lodestone::physics::mt {

/// The end of a remark on a file that lacks what it announces, as one does that was cut off. `check` makes a
/// warning of such a remark.
inline constexpr std::string_view mark_of_damage = "; is the file damaged?";

}  // namespace lodestone::physics::mt
