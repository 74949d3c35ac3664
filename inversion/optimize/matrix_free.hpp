// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/optimize/system.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace lodestone::inversion::optimize {

/// The part of the iteration before that a forcing term needs; a checkpoint holds it in the state's memory.
struct ForcingState {
  double lambda = 0.0;         ///< λ of the step that was taken; 0: there was none
  double gradient_norm = 0.0;  ///< gradient of the objective of that λ, at the model before the step
  double forcing = 0.0;        ///< forcing term of that step
};
/// Returns the state as a row of a memory, and reads it; nothing from the memory of another method.
[[nodiscard]] Eigen::MatrixXd memory_of(const ForcingState& state);
[[nodiscard]] std::optional<ForcingState> forcing_state(const Eigen::MatrixXd& memory);

/// Returns the share of the gradient to which the next system is solved: 0.9 (|g|/|g before|)², no less than
/// 0.9 (share before)² while that exceeds 0.1, within [0.01, largest]. source: Eisenstat & Walker 1996, SIAM
/// J. Sci. Comput. 17, 16 (choice 2 and its safeguard).
[[nodiscard]] double next_forcing(const ForcingState& before, double gradient_norm, double largest);

/// A system that is solved by products of the linearization with single vectors; J is never formed. A
/// subspace of models grows along gradients of the objective, preconditioned by the model covariance. It is
/// large enough once the gradient of the wanted λ is small and a further direction hardly lowers the
/// objective. Each direction costs one `jvp` and one `vjp` and serves all later λ, jumps and creeping steps
/// alike. source: Lampe, Reichel & Voss 2012, Linear Algebra Appl. 436, 2845 (expansion by gradients);
/// docs/theory/inversion.md.
///
/// Further unknowns follow each direction of the cells: they take the values that are best for it, found from
/// their columns of J. So the number of directions is that of a system without them, and one more. source:
/// Golub & Pereyra 1973, SIAM J. Numer. Anal. 10, 413 (variable projection).
///
/// Every rank holds the whole subspace. Internal to this layer.
class MatrixFreeSystem final : public GaussNewtonSystem {
 public:
  struct Terms {
    double forcing = 0.1;        ///< a solve ends no sooner than its gradient fell to this share
    int max_steps = 15;          ///< directions of one linearization besides that of the present model
    Eigen::Index n_further = 0;  ///< as in `Objective`
    std::function<void(int step)> on_step{};
  };
  /// Takes the linearization at `model` and one `vjp`. errors: SolverError, on every rank, of a product.
  MatrixFreeSystem(const core::Team& team, std::unique_ptr<core::Linearization> linearization,
                   const objective::DataMisfit& misfit, const objective::Regularization& regularization,
                   Eigen::VectorXd model, Terms terms);
  ~MatrixFreeSystem() override;

  [[nodiscard]] std::optional<Eigen::VectorXd> jump(double lambda) const override;
  [[nodiscard]] std::optional<Eigen::VectorXd> creep(double lambda) const override;
  [[nodiscard]] double linear_rms(double lambda) const override;
  [[nodiscard]] SystemSpace space() const override { return SystemSpace::matrix_free; }
  /// Returns ‖C^{1/2} Jᵀ W r‖²/‖r‖², a mean of the eigenvalues of BᵀB.
  [[nodiscard]] double scale() const override;

  /// Returns the norm of the objective's gradient at the present model, in the metric of the covariance; with
  /// further unknowns that of the cells, once a step of these is taken.
  [[nodiscard]] double gradient_norm(double lambda) const;
  void set_forcing(double forcing);
  [[nodiscard]] int n_steps() const;  ///< directions so far

 private:
  class Subspace;
  std::unique_ptr<Subspace> subspace_;  ///< grows while it is asked
};

}  // namespace lodestone::inversion::optimize
