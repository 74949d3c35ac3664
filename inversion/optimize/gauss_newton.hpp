// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"
#include "inversion/optimize/optimizer.hpp"

namespace lodestone::inversion::optimize {

/// The space in which the normal equations are solved; both give the same model.
enum class SystemSpace { automatic, data, model };
constexpr auto words(SystemSpace) {
  using enum SystemSpace;
  return core::Words<SystemSpace>{{automatic, "auto"}, {data, "data"}, {model, "model"}};
}
/// The choice of λ: a search in every iteration, or a decrease from one to the next.
enum class LambdaStrategy { occam, cooling };
constexpr auto words(LambdaStrategy) {
  using enum LambdaStrategy;
  return core::Words<LambdaStrategy>{{occam, "occam"}, {cooling, "cooling"}};
}

/// Gauss–Newton with a search for λ in every iteration (Occam; steps creep where Occam's jumps no longer
/// pay), or with a λ that cools.
struct GaussNewtonOptions {
  StopRules stop{};
  SystemSpace space = SystemSpace::automatic;  ///< automatic: the one with fewer flops
  LambdaStrategy lambda_strategy = LambdaStrategy::occam;
  double lambda_start =
      0.0;  ///< 0: chosen so that the linearized rms of the first step is half the start's, or the target
  double lambda_factor = 3.1622776601683795;  ///< Occam: first bracket step of the λ search
  double lambda_tolerance = 0.1;  ///< Occam: in log10 λ, of the search for the largest λ at the target
  int max_lambda_trials = 10;     ///< Occam: forward runs per λ search
  double sufficient_drop = 0.5;  ///< Occam, above the target: a first trial that lowers the rms by this share
                                 ///< is taken at once; 1: never
  double cooling_factor = 3.1622776601683795;  ///< cooling: λ is divided by it …
  int cooling_rate = 1;                        ///< … after so many iterations
  int max_halvings = 5;                        ///< halvings of a step that does not help
  bool smooth_at_target = true;                ///< Occam: go on at the target while the roughness falls
  double min_roughness_drop =
      0.02;  ///< Occam: relative; a smaller one between two models at the target: target_reached
};

/// source: Constable et al. 1987 (Occam); Siripunvaraporn & Egbert 2000 (data space); Parker 1994 (creeping).
class GaussNewton final : public Optimizer {
 public:
  /// Checks the options. errors: InvalidArgument.
  explicit GaussNewton(MPI_Comm comm, GaussNewtonOptions options = {});

 private:
  [[nodiscard]] std::unique_ptr<Run> make_run(Objective objective) const override;
  GaussNewtonOptions options_;
};

}  // namespace lodestone::inversion::optimize
