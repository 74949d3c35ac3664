// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"
#include "inversion/gauss_newton.hpp"
#include "inversion/misfit.hpp"
#include "inversion/regularization.hpp"
#include "inversion/team.hpp"

#include <memory>
#include <optional>

namespace lodestone::inversion {

/// The Gauss–Newton step of one linearisation in the variables x, m = m_ref + S x, where S Sᵀ = (RᵀR)⁻¹ and the roughness is ‖x‖²:
/// jump: m(λ) = m_ref + S x,  x minimises ‖d̂ − Bᵀx‖² + λ‖x‖²,  B = Sᵀ Jᵀ W,  d̂ = residual + W J (m_k − m_ref);
/// creep: m(λ) = m_k + S x,  x minimises ‖residual − Bᵀx‖² + λ‖x‖².
/// W and the residual carry the weights of Huber's norm where the misfit has a threshold.
///
/// Internal to this layer. Each rank makes the columns of B of the data whose rows of J it holds; all ranks hold B, rank 0 the dense system. The number of
/// ranks changes the numbers by rounding at most. collective: every member.
class GaussNewtonSystem {
 public:
  virtual ~GaussNewtonSystem() = default;
  GaussNewtonSystem(const GaussNewtonSystem&) = delete;
  GaussNewtonSystem& operator=(const GaussNewtonSystem&) = delete;

  /// The model whose roughness λ weighs, the same bits on every rank; nothing when the system is not positive definite.
  [[nodiscard]] std::optional<Eigen::VectorXd> jump(double lambda) const;
  /// The model whose change's roughness λ weighs, otherwise as `jump`.
  [[nodiscard]] std::optional<Eigen::VectorXd> creep(double lambda) const;
  /// rms of the linearised data after a jump; infinite when the system is not positive definite.
  [[nodiscard]] double linear_rms(double lambda) const;
  /// Of BᵀB: the λ at which data and roughness weigh alike.
  [[nodiscard]] double mean_diagonal() const { return mean_diagonal_; }

 protected:
  /// Makes B; errors: what `linearization.local_jacobian()` throws, on every rank.
  GaussNewtonSystem(const Team& team, const core::Linearization& linearization, const DataMisfit& misfit,
                    const Regularization& regularization, const Eigen::VectorXd& model);
  [[nodiscard]] const Team& team() const { return team_; }
  [[nodiscard]] const Eigen::MatrixXd& b() const { return b_; }  ///< (n_model, n_kept)

 private:
  /// x for these data, on rank 0.
  [[nodiscard]] virtual std::optional<Eigen::VectorXd> solve(const Eigen::VectorXd& data, double lambda) const = 0;
  struct OwnRows;
  void build_root(const OwnRows& own, const Eigen::VectorXd& weights);
  /// from + S x.
  [[nodiscard]] std::optional<Eigen::VectorXd> step(const Eigen::VectorXd& from, const Eigen::VectorXd& data, double lambda) const;

  const Team& team_;
  const Regularization& regularization_;
  Eigen::MatrixXd b_;
  Eigen::VectorXd model_;     // m_k
  Eigen::VectorXd residual_;  // of the kept data at m_k
  Eigen::VectorXd shifted_;   // d̂
  double mean_diagonal_ = 0.0;
};

/// x = B α, (G + λ I) α = data, G = BᵀB: a system of the size of the kept data. cost: n_model·n_kept² flops once, n_kept³/3 per λ.
class DataSpaceSystem final : public GaussNewtonSystem {
 public:
  DataSpaceSystem(const Team& team, const core::Linearization& linearization, const DataMisfit& misfit,
                  const Regularization& regularization, const Eigen::VectorXd& model);

 private:
  [[nodiscard]] std::optional<Eigen::VectorXd> solve(const Eigen::VectorXd& data, double lambda) const override;
  Eigen::MatrixXd gram_;  // lower triangle, rank 0 only
};

/// (H + λ I) x = B data, H = B Bᵀ = Sᵀ(JᵀW²J)S: a system of the size of the model. cost: n_kept·n_model² flops once, n_model³/3 per λ.
class ModelSpaceSystem final : public GaussNewtonSystem {
 public:
  ModelSpaceSystem(const Team& team, const core::Linearization& linearization, const DataMisfit& misfit,
                   const Regularization& regularization, const Eigen::VectorXd& model);

 private:
  [[nodiscard]] std::optional<Eigen::VectorXd> solve(const Eigen::VectorXd& data, double lambda) const override;
  Eigen::MatrixXd normal_;  // lower triangle, rank 0 only
};

/// `automatic` takes the space whose counted flops are fewer.
[[nodiscard]] std::unique_ptr<GaussNewtonSystem> make_system(SystemSpace space, const Team& team, const core::Linearization& linearization,
                                                             const Objective& objective, const Eigen::VectorXd& model);

}  // namespace lodestone::inversion
