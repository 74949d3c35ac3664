// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/team.hpp"

#include <vector>

namespace lodestone::inversion {

/// Columns [first, first + size) and the rank that works on them.
struct ColumnBlock {
  Eigen::Index first, size;
  int owner;
};

/// Blocks of 256 columns, whatever the number of ranks, dealt out in turn.
[[nodiscard]] std::vector<ColumnBlock> column_blocks(Eigen::Index n_columns, int n_ranks);

/// Lower triangle of AᵀA on rank 0, empty elsewhere; ranks and threads share the tiles of 256 × 256. shapes: A (n, p), the same on every rank → (p, p).
/// Internal to this layer. collective. cost: n·p² flops.
[[nodiscard]] Eigen::MatrixXd shared_gram(const Team& team, const Eigen::MatrixXd& a);

}  // namespace lodestone::inversion
