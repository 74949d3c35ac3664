// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one format of pictures.
#pragma once

#include "engine/program/program.hpp"

#include <string>
#include <vector>

namespace lodestone::engine {

/// Returns a program as a graph in the language of Graphviz (`dot -Tsvg`): a node per instruction with its
/// op, result and line, in a box per module; inputs by their names.
[[nodiscard]] std::string dot(const Program& program, const std::vector<std::string>& input_names);

}  // namespace lodestone::engine
