// SPDX-License-Identifier: Apache-2.0
// Pictures of what the compiler makes of a function. `Compiled::text` shows the same stages as text.
#pragma once

#include "engine/compile/level.hpp"
#include "engine/record/trace.hpp"
#include "engine/record/variable.hpp"

#include <string>

namespace lodestone::engine {

struct PictureOptions {
  Level level = Level::O1;
  std::vector<NamedVariable> cells = {};  ///< names of modules and their variables (`Stateful::variables`)
  std::string title = "Compiled function";
};

/// Returns a page (HTML, self-contained) that shows what the compiler makes of f for arguments of these
/// abstract values: the program as it was recorded, after the rules that drop ops, and as it runs. Each is a
/// tree by module, with the line and the bytes of results, and with the reason why elementwise ops are not
/// merged. Then come launches with places in memory, and the memory over time. A module is named by the cells
/// that an instruction reads. errors: as those of `dry_run`.
[[nodiscard]] std::string page(const Function& f, std::span<const Aval> arguments,
                               const PictureOptions& options = {},
                               std::source_location where = std::source_location::current());

/// Returns the program at a stage as a graph in the language of Graphviz (`dot -Tsvg`): a node per
/// instruction, in a box per module. From `Stage::running` on it is the program that runs. errors: as those
/// of `dry_run`.
[[nodiscard]] std::string dot(const Function& f, std::span<const Aval> arguments,
                              Stage stage = Stage::running, const PictureOptions& options = {},
                              std::source_location where = std::source_location::current());

}  // namespace lodestone::engine
