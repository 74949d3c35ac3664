// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/optimize/optimizer.hpp"

namespace lodestone::inversion::optimize {

/// The rule by which a descent chooses its direction from gradients.
enum class DescentMethod { nlcg, lbfgs };

/// Nonlinear conjugate gradients (Polak–Ribière, restarted where its factor is negative) or L-BFGS,
/// preconditioned by the model covariance with a damping from the data's sensitivities (theory:
/// docs/theory/inversion.md). No Jacobian: an iteration costs one or two linearizations, one `jvp` and at
/// most two `vjp` of a single vector each.
struct DescentOptions {
  DescentMethod method = DescentMethod::lbfgs;
  StopRulesOf<100, 5, 4> stop{};  ///< λ is lowered after a drop below `min_rms_drop`
  double lambda_start = 0.0;      ///< 0: from the size of the sensitivities
  double lambda_factor = 10.0;    ///< λ is divided by it where the rms stalls
  int memory = 10;                ///< L-BFGS: pairs that are kept
  int max_halvings = 8;           ///< halvings of the step
};

/// source: Polak & Ribière 1969; Rodi & Mackie 2001 (NLCG in MT); Nocedal & Wright 2006, algorithm 7.4
/// (L-BFGS), section 3.5 (line search).
class Descent final : public Optimizer {
 public:
  /// Checks the options. errors: InvalidArgument.
  explicit Descent(MPI_Comm comm, DescentOptions options = {});

 private:
  [[nodiscard]] std::unique_ptr<Run> make_run(const RunSettings& settings,
                                              Objective objective) const override;
  DescentOptions options_;
};

}  // namespace lodestone::inversion::optimize
