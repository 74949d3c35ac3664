// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"
#include "engine/core/mpi/team.hpp"
#include "inversion/objective/misfit.hpp"
#include "inversion/objective/regularization.hpp"
#include "inversion/optimize/gauss_newton.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace lodestone::inversion::optimize {

/// Errors and prior drawn for one sample, both standard normal: of the kept data (n_kept), and of x
/// (n_model).
struct Noise {
  Eigen::VectorXd data, prior;
};

/// A model and ½‖residual‖² of its linearized data.
struct LinearSample {
  Eigen::VectorXd model;
  double half_misfit;
};

/// Returns the indices of data with a weight, in order.
[[nodiscard]] std::vector<Eigen::Index> kept_data(const objective::DataMisfit& misfit);

/// The Gauss–Newton step of one linearization in the variables x. S Sᵀ = (RᵀR)⁻¹ and B = Sᵀ Jᵀ W, so that
/// ‖x‖² is the roughness of m = m_ref + S x. A jump leads to m(λ) = m_ref + S x, where x minimizes ‖d̂ −
/// Bᵀx‖² + λ‖x‖²; d̂ = residual + W J (m_k − m_ref). Creeping leads to m(λ) = m_k + S x, where x minimizes
/// ‖residual − Bᵀx‖² + λ‖x‖². W and the residual carry the weights of Huber's norm where the misfit has a
/// threshold.
///
/// Internal to this layer. Each rank makes the columns of B of the data whose rows of J it holds; all ranks
/// hold B, rank 0 the dense system. The number of ranks changes the numbers by rounding at most. collective:
/// every member.
class GaussNewtonSystem {
 public:
  virtual ~GaussNewtonSystem() = default;
  GaussNewtonSystem(const GaussNewtonSystem&) = delete;
  GaussNewtonSystem& operator=(const GaussNewtonSystem&) = delete;

  /// Returns the model whose roughness λ weighs, the same bits on every rank; nothing when the system is not
  /// positive definite.
  [[nodiscard]] std::optional<Eigen::VectorXd> jump(double lambda) const;
  /// Returns the model whose change's roughness λ weighs, otherwise as `jump`.
  [[nodiscard]] std::optional<Eigen::VectorXd> creep(double lambda) const;
  /// Returns the rms of the linearized data after a jump; infinite when the system is not positive definite.
  [[nodiscard]] double linear_rms(double lambda) const;
  /// Returns the Cholesky factor (lower triangle) of G + λ I or H + λ I on rank 0, empty elsewhere. errors:
  /// SolverError, on every rank, where there is none.
  [[nodiscard]] Eigen::MatrixXd factor(double lambda) const;
  /// Returns the jump with data d̂ + ε and the reference model m_ref + S z/√λ, by `factor(lambda)`; noise: ε
  /// and z. The same bits on every rank.
  [[nodiscard]] LinearSample randomized_jump(const Eigen::MatrixXd& factor, double lambda,
                                             const Noise& noise) const;
  [[nodiscard]] const Eigen::MatrixXd& b() const { return b_; }  ///< (n_model, n_kept)
  [[nodiscard]] virtual SystemSpace space() const = 0;
  /// Returns the mean diagonal of BᵀB: the λ at which data and roughness weigh alike.
  [[nodiscard]] double mean_diagonal() const { return mean_diagonal_; }

 protected:
  /// Makes B; errors: what `linearization.local_jacobian()` throws, on every rank.
  GaussNewtonSystem(const core::Team& team, const core::Linearization& linearization,
                    const objective::DataMisfit& misfit, const objective::Regularization& regularization,
                    const Eigen::VectorXd& model);
  [[nodiscard]] const core::Team& team() const { return team_; }
  Eigen::MatrixXd dense_;  ///< G or H, lower triangle, rank 0 only

 private:
  /// Returns x for these data by the factor, on rank 0.
  [[nodiscard]] virtual Eigen::VectorXd solve(const Eigen::MatrixXd& factor,
                                              const Eigen::VectorXd& data) const = 0;
  [[nodiscard]] std::optional<Eigen::VectorXd> solve(const Eigen::VectorXd& data, double lambda) const;
  struct OwnRows;
  void build_root(const OwnRows& own, const Eigen::VectorXd& weights);
  /// Returns from + S x.
  [[nodiscard]] std::optional<Eigen::VectorXd> step(const Eigen::VectorXd& from, const Eigen::VectorXd& data,
                                                    double lambda) const;

  const core::Team& team_;
  const objective::Regularization& regularization_;
  Eigen::MatrixXd b_;
  Eigen::VectorXd model_;     // m_k
  Eigen::VectorXd residual_;  // of the kept data at m_k
  Eigen::VectorXd shifted_;   // d̂
  double mean_diagonal_ = 0.0;
};

/// x = B α, (G + λ I) α = data, G = BᵀB: a system of the size of the kept data. cost: n_model·n_kept² flops
/// once, n_kept³/3 per λ.
class DataSpaceSystem final : public GaussNewtonSystem {
 public:
  DataSpaceSystem(const core::Team& team, const core::Linearization& linearization,
                  const objective::DataMisfit& misfit, const objective::Regularization& regularization,
                  const Eigen::VectorXd& model);
  [[nodiscard]] SystemSpace space() const override { return SystemSpace::data; }

 private:
  [[nodiscard]] Eigen::VectorXd solve(const Eigen::MatrixXd& factor,
                                      const Eigen::VectorXd& data) const override;
};

/// (H + λ I) x = B data, H = B Bᵀ = Sᵀ(JᵀW²J)S: a system of the size of the model. cost: n_kept·n_model²
/// flops once, n_model³/3 per λ.
class ModelSpaceSystem final : public GaussNewtonSystem {
 public:
  ModelSpaceSystem(const core::Team& team, const core::Linearization& linearization,
                   const objective::DataMisfit& misfit, const objective::Regularization& regularization,
                   const Eigen::VectorXd& model);
  [[nodiscard]] SystemSpace space() const override { return SystemSpace::model; }

 private:
  [[nodiscard]] Eigen::VectorXd solve(const Eigen::MatrixXd& factor,
                                      const Eigen::VectorXd& data) const override;
};

/// Makes a system. `automatic` takes the space whose counted flops are fewer.
[[nodiscard]] std::unique_ptr<GaussNewtonSystem> make_system(SystemSpace space, const core::Team& team,
                                                             const core::Linearization& linearization,
                                                             const Objective& objective,
                                                             const Eigen::VectorXd& model);

}  // namespace lodestone::inversion::optimize
