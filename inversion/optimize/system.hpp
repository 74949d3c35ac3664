// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"
#include "engine/core/mpi/team.hpp"
#include "inversion/objective/misfit.hpp"
#include "inversion/objective/regularization.hpp"
#include "inversion/optimize/gauss_newton.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lodestone::inversion::optimize {

/// Errors and prior drawn for one sample, both standard normal: of the kept data (n_kept), and of x
/// (root_size).
struct Noise {
  Eigen::VectorXd data, prior;
};

/// The memory of one step on rank 0, bytes: J, B and the dense system and its factor, or the subspace without
/// J.
struct SystemBytes {
  double with_jacobian = 0.0, matrix_free = 0.0;
};
/// Counts the memory. `n_cells`: as in `Objective`; J of the cells stands beside that of their codes.
[[nodiscard]] SystemBytes system_bytes(double n_model, double n_data, const InnerSteps& inner,
                                       double n_cells = 0.0);

/// Returns the bytes that J and its system may take on each rank, by the options or half of this rank's share
/// of the machine. collective.
[[nodiscard]] double jacobian_allowance(const core::Team& team, const GaussNewtonOptions& options);

/// Returns the most products with J or Jᵀ that a step without J takes.
[[nodiscard]] constexpr double most_products(const InnerSteps& inner) { return 2.0 * inner.max_steps + 1.0; }

/// Returns true if a step is to be made without J: by the options, or because J is dear. It is dear where all
/// its rows cost more than the products of such a step. So is it where J and its system are larger than the
/// allowance of any rank. collective.
[[nodiscard]] bool is_matrix_free(const core::Team& team, const GaussNewtonOptions& options,
                                  const SystemBytes& bytes);

/// Returns the sentence that says how steps are solved, and why.
[[nodiscard]] std::string choice_in_words(bool matrix_free, const SystemBytes& bytes, double allowance,
                                          const GaussNewtonOptions& options);

/// A model and ½‖residual‖² of its linearized data.
struct LinearSample {
  Eigen::VectorXd model;
  double half_misfit;
};

/// Returns the indices of data with a weight, in order.
[[nodiscard]] std::vector<Eigen::Index> kept_data(const objective::DataMisfit& misfit);

/// The Gauss–Newton step of one linearization. A jump minimizes ‖r + W J (m − m_k)‖² + λ‖R (m − m_ref)‖².
/// Creeping puts m_k in the place of m_ref. W and the residual r carry the weights of Huber's norm where the
/// misfit has a threshold. Internal to this layer.
///
/// The number of ranks changes the numbers by rounding at most. collective: every member.
class GaussNewtonSystem {
 public:
  virtual ~GaussNewtonSystem() = default;
  GaussNewtonSystem(const GaussNewtonSystem&) = delete;
  GaussNewtonSystem& operator=(const GaussNewtonSystem&) = delete;

  /// Returns the model whose roughness λ weighs, the same bits on every rank; nothing when the system is not
  /// positive definite. errors of this and the next two: SolverError, on every rank, of a product.
  [[nodiscard]] virtual std::optional<Eigen::VectorXd> jump(double lambda) const = 0;
  /// Returns the model whose change's roughness λ weighs, otherwise as `jump`.
  [[nodiscard]] virtual std::optional<Eigen::VectorXd> creep(double lambda) const = 0;
  /// Returns the rms of the linearized data after a jump; infinite when the system is not positive definite.
  [[nodiscard]] virtual double linear_rms(double lambda) const = 0;
  /// Returns the space in which it is solved, never `automatic`.
  [[nodiscard]] virtual SystemSpace space() const = 0;
  /// Returns a λ at which data and roughness weigh alike.
  [[nodiscard]] virtual double scale() const = 0;

 protected:
  GaussNewtonSystem() = default;
};

/// A system that is made from all rows of J, in the variables x. S Sᵀ = (RᵀR)⁻¹ and B = Sᵀ Jᵀ W, so that ‖x‖²
/// is the roughness of m = m_ref + S x. After a jump x minimizes ‖d̂ − Bᵀx‖² + λ‖x‖², d̂ = r + W J (m_k −
/// m_ref); after a creeping step to m_k + S x it minimizes ‖r − Bᵀx‖² + λ‖x‖².
///
/// Each rank makes the columns of B of the data whose rows of J it holds; all ranks hold B, rank 0 the dense
/// system.
class DenseSystem : public GaussNewtonSystem {
 public:
  [[nodiscard]] std::optional<Eigen::VectorXd> jump(double lambda) const override;
  [[nodiscard]] std::optional<Eigen::VectorXd> creep(double lambda) const override;
  [[nodiscard]] double linear_rms(double lambda) const override;
  /// Returns the Cholesky factor (lower triangle) of G + λ I or H + λ I on rank 0, empty elsewhere. errors:
  /// SolverError, on every rank, where there is none.
  [[nodiscard]] Eigen::MatrixXd factor(double lambda) const;
  /// Returns the jump with data d̂ + ε and the reference model m_ref + S z/√λ, by `factor(lambda)`; noise: ε
  /// and z. The same bits on every rank.
  [[nodiscard]] LinearSample randomized_jump(const Eigen::MatrixXd& factor, double lambda,
                                             const Noise& noise) const;
  [[nodiscard]] const Eigen::MatrixXd& b() const { return b_; }  ///< (root_size, n_kept)
  /// Returns the mean diagonal of BᵀB.
  [[nodiscard]] double scale() const override { return mean_diagonal_; }

 protected:
  /// Makes B; errors: what `linearization.local_jacobian()` throws, on every rank.
  DenseSystem(const core::Team& team, const core::Linearization& linearization,
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
class DataSpaceSystem final : public DenseSystem {
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
class ModelSpaceSystem final : public DenseSystem {
 public:
  ModelSpaceSystem(const core::Team& team, const core::Linearization& linearization,
                   const objective::DataMisfit& misfit, const objective::Regularization& regularization,
                   const Eigen::VectorXd& model);
  [[nodiscard]] SystemSpace space() const override { return SystemSpace::model; }

 private:
  [[nodiscard]] Eigen::VectorXd solve(const Eigen::MatrixXd& factor,
                                      const Eigen::VectorXd& data) const override;
};

/// Makes a system from all rows of J. `automatic` takes the space whose counted flops are fewer. errors:
/// InvalidArgument for `matrix_free`.
[[nodiscard]] std::unique_ptr<DenseSystem> make_dense_system(SystemSpace space, const core::Team& team,
                                                             const core::Linearization& linearization,
                                                             const Objective& objective,
                                                             const Eigen::VectorXd& model);

}  // namespace lodestone::inversion::optimize
