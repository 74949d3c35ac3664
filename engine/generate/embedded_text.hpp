// SPDX-License-Identifier: Apache-2.0
// Small on purpose: embed.cmake writes the definitions.
// Inside of the engine: what every generated kernel begins with, without include lines.
#pragma once

#include <string_view>

namespace lodestone::engine {

extern const std::string_view prelude_text;  ///< engine/generate/prelude.inc
extern const std::string_view vmath_text;    ///< engine/vmath
extern const std::string_view helpers_text;  ///< engine/backend/scalar_helpers.hpp
extern const std::string_view rows_text;     ///< engine/backend/cpu/row_order.hpp

}  // namespace lodestone::engine
