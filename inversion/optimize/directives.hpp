// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"

#include <Eigen/Core>
#include <mpi.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// A row of the iteration table of a run that has stages, each a minimization of its own; iterations are
/// counted over all of them.
struct StagedRecord final : IterationRecord {
  std::string stage = "cells";  ///< "cells", or with a learned prior "features" and then "polish"; "final" of
                                ///< the last steps, at the final accuracy
};

/// The present stage of a run: its name and the rows of the stages before. Its start model bears the number
/// of the last model before it, which it is.
struct StagedHistory {
  std::string stage;
  std::vector<StagedRecord> before{};

  [[nodiscard]] int n_iterations_before() const { return before.empty() ? 0 : before.back().iteration; }
  /// Returns all rows so far. `history`: rows of the present stage.
  [[nodiscard]] std::vector<StagedRecord> with(const std::vector<IterationRecord>& history) const {
    std::vector<StagedRecord> rows = before;
    for (IterationRecord record : history) {
      record.iteration += n_iterations_before();
      rows.push_back({record, stage});
    }
    return rows;
  }
};

/// Logs one aligned line per iteration, with a heading before the first.
class IterationTable final : public Directive {
 public:
  /// `rms`: a line above the heading on what the column is, "rms on the fine meshes"; "": none.
  explicit IterationTable(std::string rms = {}) : rms_(std::move(rms)) {}
  void on_iteration(const IterationView& view) override;

 private:
  std::string rms_;
  bool has_heading_ = false;
};

/// A bar that shows what the running iteration is doing; silent unless stdout is a terminal
/// (`core::log::is_interactive`). Add it on rank 0, before the table.
class ProgressBar final : public Directive {
 public:
  explicit ProgressBar(int max_iterations);
  void on_iteration(const IterationView& view) override;
  void on_progress(const std::string& what) override;

 private:
  int max_iterations_, iteration_ = 0;
};

/// The table as a CSV file, written whole after every iteration:
/// `iteration,kind,lambda,rms,roughness,step,rms_at_start,n_forward,n_jacobian,seconds`, and `,stage` where
/// the run has stages. collective over `comm`; rank 0 writes. errors: FileError.
class IterationsCsv final : public Directive {
 public:
  /// Keeps `comm`, which a process without MPI never uses.
  IterationsCsv(MPI_Comm comm, std::string path, std::optional<StagedHistory> stages = {});
  void on_iteration(const IterationView& view) override;

 private:
  MPI_Comm comm_;
  std::string path_;
  std::optional<StagedHistory> stages_;
};

/// Hands the state to a callback that stores it after every iteration. Called on every rank; the callback
/// decides which one writes.
class CheckpointDirective final : public Directive {
 public:
  explicit CheckpointDirective(std::function<void(const InversionState&)> store);
  void on_iteration(const IterationView& view) override;

 private:
  std::function<void(const InversionState&)> store_;
};

}  // namespace lodestone::inversion::optimize
