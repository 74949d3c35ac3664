// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/checkpoint.hpp"
#include "apps/mt_invert/earth.hpp"
#include "apps/mt_invert/model_space.hpp"
#include "apps/mt_invert/run_folder.hpp"
#include "inversion/directive.hpp"
#include "io/vtk/section_writer.hpp"

#include <mpi.h>

namespace lodestone::mt_invert {

/// checkpoint.h5 after every iteration.
class SaveCheckpoint final : public inversion::Directive {
 public:
  SaveCheckpoint(MPI_Comm comm, std::string path, RunInputs inputs) : comm_(comm), path_(std::move(path)), inputs_(std::move(inputs)) {}
  void on_iteration(const inversion::IterationView& view) override;

 private:
  MPI_Comm comm_;
  std::string path_;
  RunInputs inputs_;
};

/// The section of every iteration for ParaView.
class SaveSections final : public inversion::Directive {
 public:
  SaveSections(MPI_Comm comm, const std::string& folder, const Earth& earth, ModelSpace space, io::VtkFrame frame);
  void on_iteration(const inversion::IterationView& view) override;

 private:
  MPI_Comm comm_;
  ModelSpace space_;
  std::unique_ptr<io::SectionSeries> series_;  ///< on rank 0
};

}  // namespace lodestone::mt_invert
