// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"

#include <Eigen/Core>

#include <string>
#include <string_view>

namespace lodestone::inversion::optimize {

struct InversionState;

/// The step by which an iteration reached its model. A jump weighs the roughness of the model, a creeping
/// step that of the change. A descent follows a gradient. A pair is a jump of the cells and one of the codes.
enum class StepKind { start, jump, creep, descent, pair };
constexpr auto words(StepKind) {
  using enum StepKind;
  return core::Words<StepKind>{
      {start, "start"}, {jump, "jump"}, {creep, "creep"}, {descent, "descent"}, {pair, "pair"}};
}

/// One row of the iteration table.
struct IterationRecord {
  int iteration = 0;  ///< 0 = start model
  StepKind kind = StepKind::start;
  double lambda = 0.0, rms = 0.0;
  double roughness = 0.0;  ///< ‖R (m − m_ref)‖²
  double step = 0.0;  ///< share of the Gauss–Newton step (of a pair: of the codes), or of the predicted
                      ///< length of a descent, that was taken
  double rms_at_start = 0.0;  ///< rms of the model before on this iteration's mesh; differs from the rms
                              ///< of the row before where the mesh was redesigned
  int n_forward = 0, n_jacobian = 0;  ///< in this iteration
  double seconds = 0.0;               ///< wall time of this iteration
  double code_lambda = 0.0;           ///< λ of a pair's codes; else 0
};

/// The view that directives get after every accepted iteration, and once for the start model.
struct IterationView {
  const IterationRecord& record;
  const Eigen::VectorXd& model;
  const Eigen::VectorXd& predicted;
  const InversionState& state;  ///< as a checkpoint stores it
};

/// An action of each iteration: a table line, a checkpoint, a VTK file, progress. It runs on every rank; only
/// rank 0 should write files.
class Directive {
 public:
  virtual ~Directive() = default;
  virtual void on_iteration(const IterationView& view) = 0;
  /// Runs within an iteration, after each forward run of the λ search ("jacobian", "lambda 3/10 rms 2.31").
  virtual void on_progress(const std::string& what) { (void)what; }
};

}  // namespace lodestone::inversion::optimize
