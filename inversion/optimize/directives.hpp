// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/optimize/staged_history.hpp"

#include <mpi.h>

#include <functional>
#include <optional>
#include <string>

namespace lodestone::inversion::optimize {

/// Logs one aligned line per iteration, with a heading before the first.
class IterationTable final : public Directive {
 public:
  void on_iteration(const IterationView& view) override;

 private:
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
