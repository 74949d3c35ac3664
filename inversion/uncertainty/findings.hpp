// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/array_io.hpp"
#include "physics/mesh/tensor_grid.hpp"

#include <Eigen/Core>

#include <cstdint>
#include <optional>
#include <string>

namespace lodestone::inversion::uncertainty {

/// The weights of errors and prior, relative to what was stated and trained.
struct Counting {
  double error_scale = 1.0;  ///< factor of the stated errors and of 1/√λ of the run
  double codes_in_run = 1.0,
         codes = 1.0;  ///< deviation of codes before the data, of that they were trained with: in the run
                       ///< with scaled errors, and here
};

/// The normal distribution around the final model where the problem is taken to be linear. Deviations are of
/// log10 resistivity, in decades; arrays of n_cells.
struct PosteriorSpread {
  static constexpr double largest = 10.0;   ///< wider deviations count as this
  Eigen::VectorXd prior_deviation_decades;  ///< before the data were seen, of the prior that roughness (or
                                            ///< the codes) and λ stand for
  Eigen::VectorXd deviation_decades;        ///< after
  Eigen::VectorXd variance_reduction;       ///< 1 − after²/before², before `largest` was put in
  Eigen::VectorXd
      resolution;  ///< diagonal of the resolution matrix; NaN in cells that are no unknowns of their own
  Eigen::VectorXd investigated;  ///< 1 where the data see the cell, 0 beyond the depth of investigation
  double seen_share = 0.0,
         largest_prior_decades = 0.0;  ///< the rule: after ≤ share · min(before, largest prior)
  double lambda = 0.0, degrees_of_freedom = 0.0, n_unknowns = 0.0, n_data = 0.0;
  Counting counting{};
  std::string unknowns;  ///< "cells" or "codes"
};

/// The part of the models of an ensemble that fits the data.
enum class Fitting { all, some, none };

/// Models drawn from data and prior by randomize-then-optimize; arrays of n_cells.
struct EnsembleSpread {
  /// Largest rms over the target with which a model counts as fitting: each fits other noise than that in the
  /// data.
  static constexpr double allowed_excess = 1.2;
  static constexpr int fewest = 19;  ///< samples, below which p5 and p95 are the extremes
  Eigen::VectorXd p5_log10_resistivity{}, p50_log10_resistivity{}, p95_log10_resistivity{},
      deviation_decades{};
  double lambda = 0.0, smallest_rms = 0.0, largest_rms = 0.0;
  Counting counting{};  ///< as of the posterior; both rms go with the errors as stated
  int n_samples = 0, n_failed = 0,
      n_unconverged = 0;  ///< those with a model; those without; of the first those whose steps ran out
  std::uint64_t seed = 0;
  std::string unknowns{};

  [[nodiscard]] Fitting fitting(double target_rms) const {
    const double most = allowed_excess * target_rms;
    return largest_rms <= most ? Fitting::all : smallest_rms <= most ? Fitting::some : Fitting::none;
  }
};

/// The uncertainty of a final model, as far as it was asked for.
struct Uncertainty {
  std::optional<PosteriorSpread> posterior;
  std::optional<EnsembleSpread> ensemble;
};

/// Checks sizes. errors: ShapeError unless the arrays have a number for each of the cells.
void check(const Uncertainty& uncertainty, Eigen::Index n_cells);

/// Returns the findings in sentences, "" without any. `grid`: the cells they belong to; `target_rms`: of the
/// run, by which models of an ensemble fit the data or not.
[[nodiscard]] std::string in_words(const Uncertainty& uncertainty, const physics::mesh::TensorGrid& grid,
                                   double target_rms);

/// Writes the findings to the group "uncertainty". `grid`: the cells they belong to. errors: ShapeError.
void write(core::ArraySink& sink, const Uncertainty& uncertainty, const physics::mesh::TensorGrid& grid);
/// Reads the findings; nothing where the source has none. errors: FormatError when parts do not fit the grid
/// or each other.
[[nodiscard]] std::optional<Uncertainty> read_findings(const core::ArraySource& source,
                                                       const physics::mesh::TensorGrid& grid);

}  // namespace lodestone::inversion::uncertainty
