// SPDX-License-Identifier: Apache-2.0
// Small on purpose: clustering and rewriting share it.
// Inside of the engine: numbers that stand in a program.
#pragma once

#include "engine/program/program.hpp"

#include <array>
#include <optional>

namespace lodestone::engine {

/// Returns the element that all places of a value show, if there is one: of a constant of one element,
/// however often repeated, or of a view of such. It fills the first bytes. A constant that
/// varies has none.
[[nodiscard]] std::optional<std::array<std::byte, 16>> number_of(const ProgramParts& program, ValueId id);
[[nodiscard]] inline std::optional<std::array<std::byte, 16>> number_of(const Program& program, ValueId id) {
  return number_of(program.parts(), id);
}

}  // namespace lodestone::engine
