// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/stage.hpp"
#include "io/vtk/cells.hpp"

#include <mpi.h>

#include <memory>
#include <string>

namespace lodestone::mt_invert::method {

/// Writes the section of every iteration for ParaView, counted over all stages.
class SaveSections final : public inversion::optimize::Directive {
 public:
  /// Keeps a reference to the stage. errors: FileError.
  SaveSections(MPI_Comm comm, const std::string& folder, const inversion::Stage& stage,
               physics::mesh::Frame frame);
  void on_iteration(const inversion::optimize::IterationView& view) override;

 private:
  MPI_Comm comm_;
  const inversion::Stage& stage_;
  int n_iterations_before_;
  std::unique_ptr<io::vtk::ModelSeries> series_;  ///< on rank 0
};

}  // namespace lodestone::mt_invert::method
