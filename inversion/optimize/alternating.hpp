// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/optimize/gauss_newton.hpp"
#include "inversion/prior/coded_roughness.hpp"

namespace lodestone::inversion::optimize {

/// Pairs of a step of all cells and a step of the codes of subdomains. Each is a Gauss–Newton jump with a λ
/// that follows the misfit.
struct AlternatingOptions {
  StopRulesOf<13> stop{};
  double pixel_lambda = 0.0;  ///< λ of the first step of the cells; 0: by the rule of Gauss–Newton's start
  double code_lambda = 0.0;   ///< λ of the first step of the codes; 0: likewise
  double decay = 0.9;         ///< factor of λ/rms from pair to pair
  int max_halvings = 5;       ///< halvings of a step that does not lower its objective
  prior::EncodeOptions encode{};  ///< between the two steps
  /// The rules by which the system of either step is solved: members of `GaussNewtonOptions`.
  SystemSpace space = SystemSpace::automatic;
  InnerSteps inner{};
  double jacobian_products = 0.0, jacobian_bytes = 0.0;
};

/// The unknowns are the cells of the model that the subdomains cut; the objective's regularization is that of
/// the cells. Every model it hands out is decoded in the subdomains, the start aside. theory:
/// docs/theory/learned_prior.md. source: Zhou et al. 2024, Geophysics 89, WA67.
class Alternating final : public Optimizer {
 public:
  /// Checks the options. `coded`: the subdomains and the weights of their codes. errors: InvalidArgument.
  Alternating(MPI_Comm comm, AlternatingOptions options, prior::CodedRoughness coded);

 private:
  /// Makes a run. errors: ShapeError where the objective has other cells than the subdomains.
  [[nodiscard]] std::unique_ptr<Run> make_run(const RunSettings& settings,
                                              Objective objective) const override;
  AlternatingOptions options_;
  prior::CodedRoughness coded_;
};

}  // namespace lodestone::inversion::optimize
