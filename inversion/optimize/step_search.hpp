// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/optimize/lambda_search.hpp"
#include "inversion/optimize/run.hpp"
#include "inversion/optimize/system.hpp"

#include <functional>
#include <string>
#include <variant>

namespace lodestone::inversion::optimize {

/// The services of a run that the choice of the next model needs.
struct StepServices {
  std::function<void(Candidate&)> evaluate;  ///< runs the forward map
  std::function<void(const std::string&)> progress;
};

/// Returns the largest λ, in factors of 10 from the size of the system, whose linearized rms is at most
/// max(target, half the present rms). Where no λ of twelve decades has that, it is the largest with nine
/// tenths of the fall that these have.
[[nodiscard]] double automatic_lambda(const GaussNewtonSystem& system, double target_rms, double present_rms);

/// The search for the next model from one linearization. It jumps (Occam), creeps where jumps do not pay, and
/// shortens the remaining steps. Internal to this layer.
///
/// collective: every member. source: Parker 1994, "Geophysical Inverse Theory", §5.05 (jumping and creeping).
class StepSearch {
 public:
  struct Present {
    const Eigen::VectorXd& model;
    double rms;           ///< on the present forward map
    double jump_lambda;   ///< λ of the last jump; 0: none yet
    double creep_lambda;  ///< λ of the last step if that crept; 0: it jumped
    double target_rms;
    bool may_creep;  ///< else a jump that lowers the rms by little is taken all the same
  };
  /// `options`: with Occam.
  StepSearch(const GaussNewtonOptions& options, const GaussNewtonSystem& system,
             const objective::Regularization& regularization, Present present, StepServices services);
  /// Returns a better model, or why there is none.
  [[nodiscard]] std::variant<Candidate, Stop> run();

 private:
  struct Best {
    Candidate candidate;
    bool target_reached;
  };
  [[nodiscard]] std::variant<Candidate, Stop> run_at_target();
  [[nodiscard]] Best search(StepKind kind, double lambda_start);
  [[nodiscard]] Candidate trial(StepKind kind, double lambda);
  [[nodiscard]] std::variant<Candidate, Stop> shorten(const Candidate& full);
  [[nodiscard]] double first_lambda() const;
  [[nodiscard]] bool at_target(double rms) const { return rms <= present_.target_rms; }
  [[nodiscard]] bool falls_by(double share, const Candidate& candidate) const {
    return candidate.rms < (1.0 - share) * present_.rms;
  }
  [[nodiscard]] bool is_better(const Candidate& candidate) const;
  [[nodiscard]] bool is_as_smooth(const Candidate& candidate) const;

  const GaussNewtonOptions& options_;
  const Occam& rule_;  // that of the options
  const GaussNewtonSystem& system_;
  const objective::Regularization& regularization_;
  Present present_;
  StepServices services_;
};

}  // namespace lodestone::inversion::optimize
