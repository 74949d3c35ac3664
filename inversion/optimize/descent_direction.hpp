// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/optimize/descent.hpp"

namespace lodestone::inversion::optimize {

/// Gradients with respect to x of the two parts of an objective: ½‖residual‖² + λ·½‖R (m − m_ref)‖².
struct DescentGradient {
  Eigen::VectorXd data, roughness;
  [[nodiscard]] Eigen::VectorXd of(double lambda) const { return data + lambda * roughness; }
};

/// A step that was taken, in the variables x; both gradients are of the same forward map.
struct DescentStep {
  const Eigen::VectorXd& change;     ///< x_new − x_old
  const Eigen::VectorXd& direction;  ///< that it was taken along
  const DescentGradient &before, &after;
  double lambda;
};

/// Columns that the memory of L-BFGS holds for each step.
inline constexpr Eigen::Index n_per_pair = 3;

/// Returns the direction in which to move, from the gradient and a memory of earlier steps, which is a matrix
/// so that a checkpoint can hold it. NLCG: β d, one column or none. L-BFGS: three columns per step, oldest
/// first: the change of x and those of the two gradients, so that a pair is exact for any λ. Internal to this
/// layer.
[[nodiscard]] Eigen::VectorXd descent_direction(DescentMethod method, const Eigen::MatrixXd& memory,
                                                const Eigen::VectorXd& gradient, double lambda);
/// Returns the memory after a step. `n_pairs`: most pairs of L-BFGS.
[[nodiscard]] Eigen::MatrixXd remember(DescentMethod method, const Eigen::MatrixXd& memory,
                                       const DescentStep& step, int n_pairs);

}  // namespace lodestone::inversion::optimize
