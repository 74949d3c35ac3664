// SPDX-License-Identifier: Apache-2.0
// Small on purpose: private to physics/linalg, the preconditioner made of matrices and places of nodes.
#pragma once

#include "physics/linalg/multigrid/cycle.hpp"

namespace lodestone::physics::linalg::multigrid {

/// Makes a cycle of algebraic multigrid by hypre: AMS on K + M for the edges, BoomerAMG on GᵀMG for the nodes
/// before and after it. It takes matrices alone, so that it serves where the geometric cycle fails, and as
/// its check. Not symmetric; for flexible GMRES. errors: SolverError when hypre cannot set it up. source:
/// Hiptmair & Xu 2007, SIAM J. Numer. Anal. 45, 2483; Kolev & Vassilevski 2009, J. Comput. Math. 27, 604.
[[nodiscard]] std::unique_ptr<Cycle> make_auxiliary_space(const EdgeSystem& system);

}  // namespace lodestone::physics::linalg::multigrid
