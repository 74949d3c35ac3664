// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one solver.
#pragma once

#include <Eigen/Core>

namespace lodestone::physics::mt {

/// Returns x ≥ 0 with the least |A x − b|, by an active set. shapes: a (m, n), b (m). For tall or wide A of
/// up to some hundred columns. source: Lawson & Hanson 1974, Solving Least Squares Problems, chapter 23.
[[nodiscard]] Eigen::VectorXd nonnegative_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);

}  // namespace lodestone::physics::mt
