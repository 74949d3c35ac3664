// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/optimize/descent.hpp"
#include "inversion/optimize/run.hpp"

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

/// Returns the direction in which to move, from the gradient and a memory of earlier steps. The memory is a
/// matrix, so that a checkpoint can hold it. NLCG: β d, one column or none. L-BFGS: three columns per step,
/// oldest first: the change of x and those of the two gradients, so that a pair is exact for any λ. Internal
/// to this layer.
[[nodiscard]] Eigen::VectorXd descent_direction(DescentMethod method, const Eigen::MatrixXd& memory,
                                                const Eigen::VectorXd& gradient, double lambda);
/// Returns the memory after a step. `n_pairs`: most pairs of L-BFGS.
[[nodiscard]] Eigen::MatrixXd remember(DescentMethod method, const Eigen::MatrixXd& memory,
                                       const DescentStep& step, int n_pairs);

/// Estimates the diagonal of JᵀW²J by eight random vectors of signs (Hutchinson's estimator, fixed seed), one
/// `vjp`. The same bits on every rank. Internal to this layer. collective. errors: SolverError. shape
/// (n_model).
[[nodiscard]] Eigen::VectorXd probe_diagonal(const core::Team& team, const core::Linearization& linearization,
                                             const objective::DataMisfit& misfit);

/// The variables x of a descent, m = m_ref + S x with S Sᵀ = (RᵀR + diag(damping))⁻¹: the covariance of the
/// roughness, shortened where the data see the cells well. Internal to this layer.
class DescentMetric {
 public:
  DescentMetric(const objective::Regularization& regularization, const Eigen::VectorXd& damping);

  [[nodiscard]] Eigen::VectorXd root(const Eigen::VectorXd& x) const { return root_.apply_root(x).col(0); }
  /// Takes a gradient with respect to m to that with respect to x.
  [[nodiscard]] Eigen::VectorXd root_transposed(const Eigen::VectorXd& gradient) const {
    return root_.apply_root_transposed(gradient).col(0);
  }
  /// Returns the gradient of ½‖R (m − m_ref)‖² with respect to x.
  [[nodiscard]] Eigen::VectorXd roughness_gradient(const Eigen::VectorXd& model) const;
  /// Returns the number of the variables x.
  [[nodiscard]] Eigen::Index size() const { return root_.root_size(); }
  /// Returns ‖R move‖².
  [[nodiscard]] double roughness_curvature(const Eigen::VectorXd& move) const {
    return (regularization_.roughness() * move).squaredNorm();
  }

 private:
  const objective::Regularization& regularization_;
  objective::Regularization root_;
};

/// Returns the λ at which a structure of a hundred cells, resolved as cells are on average, costs as much
/// roughness as misfit.
[[nodiscard]] double lambda_of_balance(const Eigen::VectorXd& diagonal,
                                       const objective::Regularization& regularization);

}  // namespace lodestone::inversion::optimize
