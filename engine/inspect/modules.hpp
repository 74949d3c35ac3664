// SPDX-License-Identifier: Apache-2.0
// Small on purpose: pictures and dumps name modules alike.
#pragma once

#include "engine/program/program.hpp"

#include <string>
#include <vector>

namespace lodestone::engine {

/// Returns the module of each instruction: "encoder.0" where it reads the cell "encoder.0.weight", or a view
/// of it; else that of the first of its operands that has one; "" for none. `input_names`: those of the
/// program's inputs (`PlannedFunction::input_names`).
[[nodiscard]] std::vector<std::string> modules_of(const Program& program,
                                                  const std::vector<std::string>& input_names);

/// Returns "net.cpp:12", the line that an instruction is there for, without its folders.
[[nodiscard]] std::string place_of(const Instruction& instruction);

}  // namespace lodestone::engine
