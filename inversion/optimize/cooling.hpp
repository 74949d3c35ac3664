// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/optimize/step_search.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace lodestone::inversion::optimize {

/// The next model under a λ that cools from iteration to iteration: one jump, shortened until the objective
/// of that λ falls. Internal to this layer.
///
/// collective: every member.
class CoolingStep {
 public:
  struct Present {
    const Eigen::VectorXd& model;
    double rms;     ///< on the present forward map
    double lambda;  ///< λ of the last iteration or of the start; 0: none
    const std::vector<IterationRecord>& history;
  };

  /// `options`: with cooling.
  CoolingStep(const GaussNewtonOptions& options, const GaussNewtonSystem& system, const Objective& objective,
              Present present, StepServices services);
  /// Returns a model whose objective is lower at its λ, or why there is none.
  [[nodiscard]] std::variant<Candidate, Stop> run();
  /// Tests whether the linearized rms hardly falls at this λ, but would at a much smaller one. Such an
  /// iteration is no sign of stagnation.
  [[nodiscard]] bool is_lambda_too_large(double lambda) const;

 private:
  [[nodiscard]] double next_lambda() const;
  [[nodiscard]] std::optional<Candidate> shorten(double lambda);
  /// Returns ‖residual‖² + λ roughness.
  [[nodiscard]] double objective_of(double rms, const Eigen::VectorXd& model, double lambda) const;

  const GaussNewtonOptions& options_;
  const Cooling& rule_;  // that of the options
  const GaussNewtonSystem& system_;
  const Objective& objective_;
  Present present_;
  StepServices services_;
  std::string failure_;  // of a trial, as long as all failed
  bool any_good_ = false;
};

}  // namespace lodestone::inversion::optimize
