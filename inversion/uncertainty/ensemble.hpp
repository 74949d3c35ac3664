// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/array_io.hpp"
#include "inversion/optimize/gauss_newton.hpp"
#include "inversion/optimize/optimizer.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lodestone::inversion::uncertainty {

struct EnsembleOptions {
  int n_samples = 50;
  std::uint64_t seed = 1;
  int max_iterations =
      3;  ///< Gauss–Newton steps of one sample; the first uses the Jacobian at the start for all samples
  int max_halvings = 5;  ///< halvings of a step that does not lower the sample's objective
  /// A sample is done when a step lowers its objective by less than this, or a full step by what its
  /// linearization promised to this; ½ is what one unknown that is one standard deviation off costs.
  double tolerance = 0.05;
  optimize::SystemSpace space = optimize::SystemSpace::automatic;
};

struct RunCounts {
  int forward = 0, jacobian = 0;
};

/// The forward runs and Jacobians of `n_samples` samples where no step is halved: the least, of linear
/// problems that need one step, and the most, of samples that need all their steps.
struct EnsembleCost {
  RunCounts least, most;
};
[[nodiscard]] EnsembleCost cost_of(const EnsembleOptions& options);

/// One sample as it is handed to `progress`.
struct SampleRecord {
  int number = 0;
  double rms = 0.0;        ///< against the data as measured
  double objective = 0.0;  ///< its own, at its minimum
  int n_iterations = 0;
  bool converged = false;  ///< else the iterations ran out
  std::string failure{};   ///< why there is no model; empty: there is one
};

/// Models drawn from the data and the prior, and what is needed to go on with more of them.
struct Ensemble {
  std::uint64_t seed = 0;
  double lambda = 0.0;
  Eigen::VectorXd start;              ///< the model all samples started from
  std::vector<SampleRecord> records;  ///< every sample that was tried
  Eigen::MatrixXd models;  ///< (n_unknowns, n), of the samples that did not fail, in the order of the records
  std::optional<optimize::StopReason> stopped;  ///< asked from outside before all were tried

  [[nodiscard]] int n_failed() const;
  [[nodiscard]] int n_unconverged() const;
  /// Returns "50 samples (2 failed, 1 not converged): rms 1.02 to 1.31".
  [[nodiscard]] std::string brief() const;
};

/// The surroundings of the samples.
struct EnsembleHooks {
  objective::Reweigh reweigh{};  ///< `CodedRoughness::reweigh` where unknowns are codes; empty: the
                                 ///< objective's own regularization, which must then be quadratic
  std::function<void(const Ensemble&)> progress{};  ///< after each sample, the last of `records`
  std::function<std::optional<optimize::StopReason>()> stop{};
};

/// Draws samples by randomize-then-optimize: sample k is a minimum, found from `start`, of
///
///     Φ_k(u) = ½‖W(d + σε_k − F(u))‖² + ½λ‖ρ(u) − ξ_k/√λ‖²
///
/// ρ(u) is R (u − u_ref), or the residual of a coded roughness. ε_k (kept data) and ξ_k (rows of ρ) are
/// standard normal, drawn from (seed, k) alone: no sample depends on which others there are. For linear
/// problems these are exact draws of the posterior; for others see docs/theory/learned_prior.md on the bias.
/// A sample whose forward run or step fails is counted and left out.
///
/// `done`: samples from an earlier call, which are kept; it must have been made with the same seed, λ and
/// start. collective; the same bits on every rank. cost of a sample: one forward run per step and halving,
/// one Jacobian per step after the first. errors: InvalidArgument (options, a Huber threshold, which has no
/// normal errors to draw, `done` of another ensemble), ShapeError; SolverError when there is no Jacobian at
/// the start. source: Bardsley et al. 2014, SIAM J. Sci. Comput. 36, A1895; Oliver, He & Reynolds 1996, ECMOR
/// V (the objective).
[[nodiscard]] Ensemble randomize_then_optimize(MPI_Comm comm, const optimize::Objective& objective,
                                               const Eigen::VectorXd& start, double lambda,
                                               const EnsembleOptions& options = {},
                                               const EnsembleHooks& hooks = {}, Ensemble done = {});

/// Numbers of a cell over an ensemble. shapes (n_cells).
struct EnsembleStatistics {
  Eigen::VectorXd p5, p50, p95, mean, deviation;
};

/// Returns statistics over the columns. Between p5 and p95 a further sample lies with probability 0.9,
/// whatever their number from 19 on; with fewer they are the extremes. shapes: (n_cells, n ≥ 2). errors:
/// InvalidArgument. source: Hyndman & Fan 1996, Am. Stat. 50, 361, definition 6.
[[nodiscard]] EnsembleStatistics statistics(const Eigen::MatrixXd& values);
/// Returns the cells of every model. `map`: serial. shapes: (n_unknowns, n) → (n_cells, n).
[[nodiscard]] Eigen::MatrixXd mapped(const core::DifferentiableMap& map, const Eigen::MatrixXd& models);

/// Write and read an ensemble as named arrays ("ensemble/…"), without loss but for the texts of failures.
/// errors of read_ensemble: FormatError.
void write_ensemble(core::ArraySink& sink, const Ensemble& ensemble);
[[nodiscard]] Ensemble read_ensemble(const core::ArraySource& source);
/// Describes a written ensemble without reading its models: numbers of samples, seed, λ, range of rms.
/// errors: FormatError.
[[nodiscard]] std::vector<std::string> describe_ensemble(const core::ArraySource& source);

}  // namespace lodestone::inversion::uncertainty
