// SPDX-License-Identifier: Apache-2.0
// Small on purpose: keeps the declarations of BLAS and LAPACK in one source file.
#pragma once

#include "engine/core/differentiable_map.hpp"

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
