// SPDX-License-Identifier: Apache-2.0
// Small on purpose: texts for people and for the agreement of ranks, from one place.
// Inside of the engine: a program that is cut over ranks, in words.
#pragma once

#include "engine/dist/partition.hpp"

namespace lodestone::engine {

/// Returns a line for each input, instruction and output that decides on what ranks do: text and layouts.
[[nodiscard]] std::vector<std::string> lines_of(const CutProgram& cut);
/// Returns these lines with reasons, bytes and lines of the code, and totals. `pins`: those of values.
[[nodiscard]] std::string explained(const CutProgram& cut, const std::vector<PinnedValue>& pins);

/// Checks that all ranks of the mesh have recorded the same program with the same layouts. collective over
/// the mesh. errors: InvalidArgument on all of them that names the first line which differs; those of
/// `Transport::test`.
void check_same_program(const CutProgram& cut, Transport& transport, const std::source_location& where);

}  // namespace lodestone::engine
