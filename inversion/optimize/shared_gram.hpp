// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/mpi/team.hpp"

#include <functional>
#include <vector>

namespace lodestone::inversion::optimize {

/// Columns [first, first + size) and the rank that works on them.
struct ColumnBlock {
  Eigen::Index first, size;
  int owner;
};

/// Blocks of 256 columns, whatever the number of ranks, dealt out in turn.
[[nodiscard]] std::vector<ColumnBlock> column_blocks(Eigen::Index n_columns, int n_ranks);

/// Returns a matrix whose blocks of columns the ranks and threads share; work(first, size) gives columns
/// [first, first + size), the same bits on every rank. Internal to this layer. collective; `work` must not
/// be. errors: SolverError, on every rank, when `work` throws it on any.
[[nodiscard]] Eigen::MatrixXd shared_blocks(
    const core::Team& team, Eigen::Index n_rows, Eigen::Index n_columns,
    const std::function<Eigen::MatrixXd(Eigen::Index first, Eigen::Index size)>& work);

/// Returns the lower triangle of AᵀA on rank 0, empty elsewhere; ranks and threads share the tiles of 256 ×
/// 256. shapes: A (n, p), the same on every rank → (p, p). Internal to this layer. collective. cost: n·p²
/// flops.
[[nodiscard]] Eigen::MatrixXd shared_gram(const core::Team& team, const Eigen::MatrixXd& a);

}  // namespace lodestone::inversion::optimize
