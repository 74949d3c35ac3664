// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/optimize/system.hpp"

#include <Eigen/SparseCore>

#include <memory>

namespace lodestone::inversion::optimize {

/// The aim of a λ in the linearized data.
struct LambdaGoal {
  double target_rms;
  double pair_rms;     ///< rms of the model from which the pair starts
  double present_rms;  ///< rms of the model from which the half-step starts
  bool settles;        ///< true for the half-step after which the rms is read
};

/// Returns λ of a half-step. Where `scaled` is 0 it starts as `automatic_lambda` does. It is lowered until
/// the linearized rms is at most the largest of three: the target, half that of the pair, and what leaves a
/// tenth of all that the unknowns can lower the present one by. A half-step that settles then raises it as
/// long as the linearized rms stays under the target. Internal to this layer. collective.
[[nodiscard]] double half_step_lambda(const GaussNewtonSystem& system, double scaled, LambdaGoal goal);

/// Returns `outer` by the codes: J M', M' of shape (n_model, n_codes). Keeps `outer`. collective as `outer`.
[[nodiscard]] std::unique_ptr<core::Linearization> by_codes(std::unique_ptr<core::Linearization> outer,
                                                            Eigen::SparseMatrix<double> derivative);

}  // namespace lodestone::inversion::optimize
