// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

namespace lodestone::inversion::optimize {

/// One forward run of the λ search; rms is infinite when the trial was rejected (failed solve, NaN).
struct LambdaTrial {
  double lambda = 0.0, rms = 0.0;
};

struct LambdaSearchOptions {
  double target_rms = 1.0;
  double current_rms = 0.0;     ///< rms of the model from which the step starts; 0: not known
  double sufficient_rms = 0.0;  ///< a first trial at or below it ends the search
  double first_step = 0.5;      ///< in log10 λ
  double tolerance = 0.1;       ///< in log10 λ, of the largest λ that reaches the target
  int max_trials = 10;
  bool any_at_target = false;  ///< three times the tolerance will do
  /// Tests whether a trial at the target, given by its place in the order of runs, makes a larger λ not worth
  /// another run; empty: it always is.
  std::function<bool(std::size_t trial)> suffices{};
};

struct LambdaSearchResult {
  std::vector<LambdaTrial> trials;  ///< in the order they were run
  std::size_t best = 0;             ///< the largest λ that reaches the target, else the smallest rms
  bool target_reached = false;
};

/// Searches over λ (Occam). rule: docs/theory/inversion.md. Internal to this layer.
[[nodiscard]] LambdaSearchResult search_lambda(const std::function<double(double lambda)>& rms_of,
                                               double lambda_start, const LambdaSearchOptions& options);

}  // namespace lodestone::inversion::optimize
