// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/method/checkpoint.hpp"
#include "apps/mt_invert/method/earth.hpp"
#include "apps/mt_invert/method/model_space.hpp"
#include "apps/mt_invert/method/run_folder.hpp"
#include "inversion/optimize/directive.hpp"
#include "io/vtk/cells.hpp"

#include <mpi.h>

namespace lodestone::mt_invert::method {

/// checkpoint.h5 after every iteration.
class SaveCheckpoint final : public inversion::optimize::Directive {
 public:
  /// `before`: how the stage before ended.
  SaveCheckpoint(MPI_Comm comm, std::string path, RunInputs inputs,
                 std::optional<inversion::optimize::InversionSummary> before = {})
      : comm_(comm), path_(std::move(path)), inputs_(std::move(inputs)), before_(std::move(before)) {}
  void on_iteration(const inversion::optimize::IterationView& view) override;

 private:
  MPI_Comm comm_;
  std::string path_;
  RunInputs inputs_;
  std::optional<inversion::optimize::InversionSummary> before_;
};

/// The section of every iteration for ParaView, counted over all stages.
class SaveSections final : public inversion::optimize::Directive {
 public:
  SaveSections(MPI_Comm comm, const std::string& folder, const Earth& earth, ModelSpace space,
               io::vtk::VtkFrame frame, int n_iterations_before = 0);
  void on_iteration(const inversion::optimize::IterationView& view) override;

 private:
  MPI_Comm comm_;
  ModelSpace space_;
  int n_iterations_before_;
  std::unique_ptr<io::vtk::SectionSeries> series_;  ///< on rank 0
};

}  // namespace lodestone::mt_invert::method
