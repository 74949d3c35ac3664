// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/optimize/gauss_newton.hpp"
#include "inversion/optimize/optimizer.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace lodestone::inversion::uncertainty {

/// Standard deviations of the same numbers before the data were seen and after. shapes (n).
struct Spread {
  Eigen::VectorXd prior, posterior;
  /// Returns 1 − posterior²/prior²: the share of the prior's variance that the data took away; 0 where the
  /// prior leaves none. shape (n).
  [[nodiscard]] Eigen::VectorXd variance_reduction() const;
};

/// The normal distribution N(m, C), C = (JᵀW²J + λRᵀR)⁻¹, of the unknowns near a model: the posterior of a
/// problem that is linear there, with errors N(0, σ²) and the prior N(m_ref, (λRᵀR)⁻¹). W carries the weights
/// of Huber's norm where the misfit has a threshold.
///
/// Unknowns may be cells or codes; for codes the regularization is that of their model
/// (`CodedRoughness::at`). Holds B and one more matrix of its size. collective: every member but the
/// accessors; the same bits on every rank. cost, n unknowns, p kept data, k = min(n, p): that of one
/// Gauss–Newton step and 2nk² + 4 nnz(root) k flops more. source: Tarantola 2005, "Inverse Problem Theory",
/// section 3.2; docs/theory/learned_prior.md.
class Posterior {
 public:
  /// `model`: where a run ended, and λ what it ended with (times what the caller takes the prior to be
  /// worth). errors: InvalidArgument (λ ≤ 0), ShapeError; SolverError when the forward map has no derivative
  /// there or the system is not positive definite.
  Posterior(MPI_Comm comm, optimize::Objective objective, Eigen::VectorXd model, double lambda,
            optimize::SystemSpace space = optimize::SystemSpace::automatic);
  ~Posterior();
  Posterior(Posterior&&) noexcept;

  [[nodiscard]] Eigen::Index size() const;
  /// Returns the spread of the unknowns.
  [[nodiscard]] const Spread& spread() const;
  /// Returns the diagonal of the resolution matrix 1 − λ C RᵀR = C JᵀW²J, the derivative of the estimated
  /// unknowns by the true ones. shape (n).
  [[nodiscard]] const Eigen::VectorXd& resolution() const;
  /// Returns its trace: how many numbers the data determine.
  [[nodiscard]] double degrees_of_freedom() const { return resolution().sum(); }

  /// Returns the spread of y = M(m): the diagonals of M′ C M′ᵀ and of the prior's. `map`: serial, with the
  /// unknowns as inputs, linearized at the model. cost: one `jvp` of k directions and one `vjp` of n_out.
  /// errors: ShapeError.
  [[nodiscard]] Spread spread_of(const core::Linearization& map) const;
  /// Returns the columns of C, and of the resolution matrix (the image of a point). shape: (n, which.size()).
  /// errors: InvalidArgument.
  [[nodiscard]] Eigen::MatrixXd covariance_columns(const std::vector<Eigen::Index>& which) const;
  [[nodiscard]] Eigen::MatrixXd resolution_columns(const std::vector<Eigen::Index>& which) const;
  /// Draws [first, first + count) of the seed, m + draws of N(0, C). They are those of
  /// `randomize_then_optimize` where the problem is linear and m its minimum. shape: (n, count).
  [[nodiscard]] Eigen::MatrixXd samples(std::uint64_t seed, int first, int count) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The rule for the depth (and distance aside) that the data constrain.
struct InvestigationOptions {
  double share =
      0.8;  ///< share of the prior's standard deviation: a cell with more of it left counts as not seen
  /// Standard deviation of a log10 resistivity that nothing is known about; wider priors (roughness leaves
  /// the level of a section free) count as this.
  double largest_prior = 1.0;
};

/// Returns 1 where the data see a cell, 0 beyond the depth of investigation: posterior ≤ share · min(prior,
/// largest_prior). shape (n). errors: InvalidArgument. rule and source: docs/theory/learned_prior.md, after
/// Oldenburg & Li 1999, Geophysics 64, 403.
[[nodiscard]] std::vector<std::uint8_t> investigated(const Spread& spread,
                                                     const InvestigationOptions& options = {});

}  // namespace lodestone::inversion::uncertainty
