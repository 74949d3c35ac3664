// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one map, made of two of any kind.
#pragma once

#include "engine/core/differentiable_map.hpp"

#include <mpi.h>

namespace lodestone::physics::mt::d3 {

/// Returns the map (4 fine − coarse)/3, in which errors that fall with the square of the cell size cancel.
/// `coarse`: the same outputs on cells of twice the size. `comm`: that of both maps. shapes: those of either.
/// errors: InvalidArgument on an absent map, ShapeError when they differ in a size. collective. source:
/// Richardson 1911, Phil. Trans. R. Soc. A 210, 307.
[[nodiscard]] core::MapPtr extrapolated(MPI_Comm comm, core::MapPtr fine, core::MapPtr coarse);

}  // namespace lodestone::physics::mt::d3
