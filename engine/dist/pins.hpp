// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the one way from names to values.
// Inside of the engine: pins by name as pins of the values of a program.
#pragma once

#include "engine/compile/recorded_function.hpp"
#include "engine/dist/parallelize.hpp"
#include "engine/dist/propagate.hpp"

namespace lodestone::engine {

/// The inputs that a rank has: all of each, or its pieces.
enum class GivenAs : std::uint8_t { whole, pieces };

/// Returns whether a name fits a pattern, in which "*" stands for any text.
[[nodiscard]] bool fits(std::string_view pattern, std::string_view name);

/// Returns the pins of the values of a recorded function, with the cells that it reads and assigns. Without a
/// search, parameters that have no pin are pinned whole. errors:
/// InvalidArgument for a pin that fits no name, with those there are. Also for one that does not suit its
/// tensor, with pin, tensor, extents and mesh. Inputs that are given as pieces, and have no pin, are pinned
/// whole.
[[nodiscard]] LayoutTask task_of(const RecordedFunction& recorded, const DeviceMesh& mesh,
                                 const ParallelOptions& options, GivenAs given = GivenAs::whole);

/// Returns the layouts that a table gives what has a name, as pins that `task_of` reads.
[[nodiscard]] std::vector<Pin> pins_of(const RecordedFunction& recorded, const LayoutTable& table,
                                       const DeviceMesh& mesh, const ParallelOptions& options);

}  // namespace lodestone::engine
