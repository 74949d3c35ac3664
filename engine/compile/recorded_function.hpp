// SPDX-License-Identifier: Apache-2.0
// Small on purpose: what calls a function and what only looks at it share this.
// Inside of the engine: a function as a program, with all that it takes and gives beside its arguments.
#pragma once

#include "engine/compile/donation.hpp"
#include "engine/record/feed.hpp"
#include "engine/record/variable.hpp"

#include <optional>

namespace lodestone::engine {

/// A function that was recorded once. Inputs of the program are arguments, cells that it reads, and numbers
/// of the host; outputs are results, and cells that it assigns.
struct RecordedFunction {
  Program program;
  Variables read, assigned;
  std::vector<Feed> feeds;

  [[nodiscard]] std::size_t n_arguments() const { return program.n_inputs() - read.size() - feeds.size(); }
  /// Returns the cells that are both read and assigned, as inputs and outputs.
  [[nodiscard]] std::vector<Donor> donors() const;
};

/// Records f on placeholders. None: it captured what a transform may follow. errors: those of f, and of what
/// reads values of its arguments or cells.
[[nodiscard]] std::optional<RecordedFunction> recorded_function(const Function& f,
                                                                std::span<const Aval> arguments,
                                                                std::source_location where);

}  // namespace lodestone::engine
