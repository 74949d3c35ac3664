// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"
#include "inversion/optimize/optimizer.hpp"

#include <variant>

namespace lodestone::inversion::optimize {

/// The space in which the normal equations are solved. Data and model give the same model from all rows of J;
/// without J, products with single vectors give a model near it.
enum class SystemSpace { automatic, data, model, matrix_free };
constexpr auto words(SystemSpace) {
  using enum SystemSpace;
  return core::Words<SystemSpace>{
      {automatic, "auto"}, {data, "data"}, {model, "model"}, {matrix_free, "matrix_free"}};
}

/// The limits of a solve without J. source: Eisenstat & Walker 1996 (forcing).
struct InnerSteps {
  int max_steps = 15;    ///< directions of one linearization, for all λ together, a `jvp` and a `vjp` each
  double forcing = 0.1;  ///< largest share of the gradient that a solve leaves
};

/// A search for λ in every iteration: Occam, whose steps creep where its jumps no longer pay.
struct Occam {
  double factor = 3.1622776601683795;  ///< first bracket step of the search
  double tolerance = 0.1;              ///< in log10 λ, of the search for the largest λ at the target
  int max_trials = 10;                 ///< forward runs per search
  double sufficient_drop = 0.5;  ///< above the target: a first trial that lowers the rms by this share is
                                 ///< taken at once; 1: never
  bool smooth_at_target = true;  ///< go on at the target while the roughness falls
  double min_roughness_drop =
      0.02;  ///< relative; a smaller one between two models at the target: target_reached
  bool raise_target =
      false;  ///< to what the data allow, where the rms hardly falls above it: `raised_target`
};

/// A λ that decreases from iteration to iteration.
struct Cooling {
  double factor = 3.1622776601683795;  ///< λ is divided by it …
  int rate = 1;                        ///< … after so many iterations
};

/// Gauss–Newton with one of the two rules for λ.
struct GaussNewtonOptions {
  StopRules stop{};
  std::variant<Occam, Cooling> lambda{};
  /// automatic: from all rows of J, in the space with fewer flops, where they fit into memory and cost no
  /// more than products. Else without.
  SystemSpace space = SystemSpace::automatic;
  InnerSteps inner{};
  double jacobian_products = 0.0;  ///< products that cost as much as all rows of J; 0: few
  double jacobian_bytes = 0.0;  ///< memory of a rank for J and its system; 0: half its share of the machine
  double lambda_start =
      0.0;  ///< 0: chosen so that the linearized rms of the first step is half the start's, or the target
  int max_halvings = 5;  ///< halvings of a step that does not help
};

/// source: Constable et al. 1987 (Occam); Siripunvaraporn & Egbert 2000 (data space); Parker 1994 (creeping).
class GaussNewton final : public Optimizer {
 public:
  /// Checks the options. errors: InvalidArgument.
  explicit GaussNewton(MPI_Comm comm, GaussNewtonOptions options = {});

 private:
  [[nodiscard]] std::unique_ptr<Run> make_run(const RunSettings& settings,
                                              Objective objective) const override;
  GaussNewtonOptions options_;
};

}  // namespace lodestone::inversion::optimize
