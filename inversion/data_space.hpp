// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"
#include "inversion/misfit.hpp"
#include "inversion/regularization.hpp"
#include "inversion/team.hpp"

#include <optional>

namespace lodestone::inversion {

/// The Gauss–Newton step of one linearisation as a system of the size of the kept data:
/// jump: m(λ) = m_ref + S B (G + λ I)⁻¹ d̂,  B = Sᵀ Jᵀ W,  G = Bᵀ B,  d̂ = residual + W J (m_k − m_ref),  S Sᵀ = (RᵀR)⁻¹;
/// creep: m(λ) = m_k + S B (G + λ I)⁻¹ residual.
///
/// Internal to this layer. Work is cut into blocks that do not depend on the number of ranks, so the numbers do not either. Rank 0 holds G.
/// collective: every member. cost: n_model·n_kept² flops once, n_kept³/3 per λ.
class DataSpaceSystem {
 public:
  /// errors: what `linearization.jacobian()` throws.
  DataSpaceSystem(const Team& team, const core::Linearization& linearization, const DataMisfit& misfit,
                  const Regularization& regularization, const Eigen::VectorXd& model);

  /// The model whose roughness λ weighs, the same bits on every rank; nothing when G + λ I is not positive definite.
  [[nodiscard]] std::optional<Eigen::VectorXd> jump(double lambda) const;
  /// The model whose change's roughness λ weighs, otherwise as `jump`.
  [[nodiscard]] std::optional<Eigen::VectorXd> creep(double lambda) const;
  /// rms of the linearised data after a jump; infinite when G + λ I is not positive definite.
  [[nodiscard]] double linear_rms(double lambda) const;
  [[nodiscard]] double mean_diagonal() const { return mean_diagonal_; }

 private:
  void build_root(const Eigen::MatrixXd& jacobian, const DataMisfit& misfit);
  void build_gram();
  /// from + S B (G + λ I)⁻¹ data.
  [[nodiscard]] std::optional<Eigen::VectorXd> step(const Eigen::VectorXd& from, const Eigen::VectorXd& data, double lambda) const;
  /// (G + λ I)⁻¹ data, on rank 0.
  [[nodiscard]] std::optional<Eigen::VectorXd> data_weights(const Eigen::VectorXd& data, double lambda) const;

  const Team& team_;
  const Regularization& regularization_;
  std::vector<Eigen::Index> kept_;
  Eigen::MatrixXd b_;         // (n_model, n_kept)
  Eigen::MatrixXd gram_;      // (n_kept, n_kept), lower triangle, rank 0 only
  Eigen::VectorXd model_;     // m_k
  Eigen::VectorXd residual_;  // of the kept data at m_k
  Eigen::VectorXd shifted_;   // d̂
  double mean_diagonal_ = 0.0;
};

}  // namespace lodestone::inversion
