// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"
#include "engine/core/mpi/team.hpp"

#include <functional>
#include <vector>

/// The few BLAS and LAPACK routines of the data-space system, each on the thread that calls it; internal to
/// this layer.
namespace lodestone::inversion::optimize::lapack {

/// Returns Aᵀ B. shapes: (n, p), (n, q) → (p, q).
[[nodiscard]] Eigen::MatrixXd transposed_product(const core::ConstMatrixRef& a,
                                                 const core::ConstMatrixRef& b);
/// Returns the lower triangle of Aᵀ A; the upper one is 0. shapes: (n, p) → (p, p).
[[nodiscard]] Eigen::MatrixXd lower_gram(const core::ConstMatrixRef& a);
/// Overwrites the lower triangle by its Cholesky factor, threads sharing its tiles of 256 × 256; false when
/// the matrix is not positive definite.
[[nodiscard]] bool factorize(Eigen::MatrixXd& lower);
/// Return L⁻¹ B and L⁻ᵀ B of a factor L, its lower triangle. shapes: (n, n), (n, k) → (n, k).
[[nodiscard]] Eigen::MatrixXd divide_lower(const Eigen::MatrixXd& factor, Eigen::MatrixXd b);
[[nodiscard]] Eigen::MatrixXd divide_lower_transposed(const Eigen::MatrixXd& factor, Eigen::MatrixXd b);
/// Returns A⁻¹ b by the factor.
[[nodiscard]] Eigen::VectorXd solve(const Eigen::MatrixXd& factor, Eigen::VectorXd b);

}  // namespace lodestone::inversion::optimize::lapack

namespace lodestone::inversion::optimize {

/// Columns [first, first + size) and the rank that works on them.
struct ColumnBlock {
  Eigen::Index first, size;
  int owner;
};

/// Returns blocks of 256 columns, whatever the number of ranks, dealt out in turn.
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
