// SPDX-License-Identifier: Apache-2.0
// Small on purpose: a pass has one function.
// Inside of the engine: elementwise ops whose results nobody in the program needs, such as the updates of
// many parameters, as one launch.
#pragma once

#include "engine/compile/donation.hpp"

#include <span>

namespace lodestone::engine {

/// Returns a program in which such ops and clusters are one instruction with a table of programs, where the
/// last of them stood. An op stays where it is if its operands would otherwise live longer and raise the peak
/// of memory. So does an op that would read an input when the output in its memory is written. `donors`: such
/// outputs and inputs. No table goes past a function or an effect.
[[nodiscard]] Program tabled(const Program& program, std::span<const Donor> donors);

}  // namespace lodestone::engine
