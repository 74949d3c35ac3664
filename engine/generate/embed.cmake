# SPDX-License-Identifier: Apache-2.0
# cmake -DENGINE=folder -DOUTPUT=embedded_text.cpp -P embed.cmake
# Writes files of the engine as strings, without their include lines: generated kernels consist of them and need no header.
function(lodestone_append_text list file)
  file(READ "${ENGINE}/${file}" text)
  string(REGEX REPLACE "#(include|pragma once)[^\n]*\n" "" text "${text}")
  set(${list} "${${list}}${text}" PARENT_SCOPE)
endfunction()

lodestone_append_text(prelude generate/prelude.inc)
foreach(part IN ITEMS polynomial exponential logarithm trigonometric inverse)  # those that others include come first
  lodestone_append_text(vmath vmath/${part}.hpp)
endforeach()
lodestone_append_text(helpers backend/scalar_helpers.hpp)
lodestone_append_text(rows backend/cpu/row_order.hpp)
file(WRITE "${OUTPUT}" "#include \"engine/generate/embedded_text.hpp\"
namespace lodestone::engine {
const std::string_view prelude_text = R\"embedded(${prelude})embedded\";
const std::string_view vmath_text = R\"embedded(${vmath})embedded\";
const std::string_view helpers_text = R\"embedded(${helpers})embedded\";
const std::string_view rows_text = R\"embedded(${rows})embedded\";
}  // namespace lodestone::engine
")
