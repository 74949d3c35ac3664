// SPDX-License-Identifier: Apache-2.0
// Small on purpose: a pass has one function.
// Inside of the engine: elementwise ops whose results nobody in the program needs, such as the updates of
// many parameters, as one launch.
#pragma once

#include "engine/program/program.hpp"

#include <span>

namespace lodestone::engine {

/// Returns a program in which such ops and clusters are one instruction with a table of programs, where the
/// last of them stood. One whose operands would then live longer and raise the peak of memory stays where it
/// is. No table goes past a function or an effect.
[[nodiscard]] Program tabled(const Program& program, std::span<const Strides> inputs);

}  // namespace lodestone::engine
