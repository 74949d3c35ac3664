// SPDX-License-Identifier: Apache-2.0
// Small on purpose: readers write these marks and `check` looks for them.
#pragma once

#include <string_view>

namespace lodestone::physics::mt {

/// The end of a remark on a file that lacks what it announces, as one does that was cut off. `check` makes a
/// warning of such a remark.
inline constexpr std::string_view mark_of_damage = "; is the file damaged?";
/// Ends of remarks on conventions that values show and no file states. `check` makes warnings of them, too.
inline constexpr std::string_view mark_of_conjugation = "; all values were conjugated";
inline constexpr std::string_view mark_of_ohm = " shows that they are in ohm";
/// Ends of remarks on conventions that neither a station nor its survey shows. `check` makes warnings of
/// them.
inline constexpr std::string_view mark_of_open_units = "; --units decides";
inline constexpr std::string_view mark_of_open_sign = "; --sign decides";

}  // namespace lodestone::physics::mt
