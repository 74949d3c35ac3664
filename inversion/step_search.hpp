// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/data_space.hpp"
#include "inversion/gauss_newton.hpp"
#include "inversion/lambda_search.hpp"

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace lodestone::inversion {

/// Why a run ends.
struct Stop {
  StopReason reason;
  std::string message;
};

/// A model whose forward run was tried.
struct Candidate {
  Eigen::VectorXd model{}, predicted{};
  StepKind kind = StepKind::jump;
  double lambda = 0.0, step = 1.0;
  double rms = std::numeric_limits<double>::infinity();
  std::string failure{};  ///< why it was rejected
};

/// The next model from one linearisation: jumps (Occam), creeps where jumps do not pay, shortens what is left. Internal to this layer.
///
/// collective: every member. source: Parker 1994, "Geophysical Inverse Theory", §5.05 (jumping and creeping).
class StepSearch {
 public:
  struct Present {
    const Eigen::VectorXd& model;
    double rms;           ///< on the present forward map
    double jump_lambda;   ///< of the last jump; 0: none yet
    double creep_lambda;  ///< of the last step if that crept; 0: it jumped
  };
  struct Services {
    std::function<void(Candidate&)> evaluate;  ///< runs the forward map
    std::function<void(const std::string&)> progress;
  };

  StepSearch(const GaussNewtonOptions& options, const DataSpaceSystem& system, const Regularization& regularization, Present present,
             Services services);
  /// A better model, or why there is none.
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
  [[nodiscard]] bool at_target(double rms) const { return rms <= options_.target_rms; }
  [[nodiscard]] bool falls_by(double share, const Candidate& candidate) const { return candidate.rms < (1.0 - share) * present_.rms; }
  [[nodiscard]] bool is_better(const Candidate& candidate) const;

  const GaussNewtonOptions& options_;
  const DataSpaceSystem& system_;
  const Regularization& regularization_;
  Present present_;
  Services services_;
};

}  // namespace lodestone::inversion
