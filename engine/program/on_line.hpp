// SPDX-License-Identifier: Apache-2.0
// Small on purpose: programs know nothing of the extents that they were recorded for.
// Inside of the engine: one function recorded for several extents of an axis.
#pragma once

#include "engine/program/program.hpp"

#include <optional>

namespace lodestone::engine {

/// A program for another extent, or in words what prevents it.
struct ProgramOnLine {
  std::optional<Program> program;
  std::string why_not = {};
};

/// Returns the program for `line.extent`, given those of one function for its first and second extent. They
/// must agree but for numbers, each of which is a·extent + b with whole a ≥ 0 and b: extents, numbers in
/// attributes, and constants that are one number, or are computed of such. Constants that differ are marked
/// (`Value::varies`). The result is verified as every program; whether it is what the function does there is
/// for a third recording to say.
[[nodiscard]] ProgramOnLine on_line(const Program& first, const Program& second, const Line& line);
/// Does the same for programs that passes have made of others. `before`: what `on_line` gave for those, which
/// has the constants.
[[nodiscard]] ProgramOnLine on_line(const Program& first, const Program& second, const Line& line,
                                    const Program& before);

/// Returns "%3: f32[64] = sum(…) is %3: f32[65] = sum(…)" for the first difference of two programs; nothing
/// for the same.
[[nodiscard]] std::string first_difference(const Program& a, const Program& b);

}  // namespace lodestone::engine
