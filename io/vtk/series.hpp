// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/inversion.hpp"
#include "physics/mesh/earth.hpp"
#include "physics/mesh/frame.hpp"

#include <Eigen/Core>

#include <filesystem>
#include <string>
#include <vector>

namespace lodestone::io::vtk {

/// One file of a ParaView time series.
struct SeriesEntry {
  double time = 0.0;
  std::string file;  ///< relative to the .pvd
};
/// Writes the .pvd that lists a series. errors: FileError.
void write_pvd(const std::filesystem::path& path, const std::vector<SeriesEntry>& entries);

/// The model of every iteration: `<stem>_0000.vtu` (.pvtu as `write_model` has it) … and `<stem>.pvd`, which
/// lists the iterations up to the last added one after every `add`. collective.
class ModelSeries {
 public:
  /// Makes the folder. errors: FileError when it cannot be made.
  ModelSeries(MPI_Comm comm, std::filesystem::path folder, std::string stem, physics::mesh::Earth earth,
              physics::mesh::Frame frame = {});
  /// Writes one iteration; one that is added again after a resume replaces its file. errors: FileError,
  /// ShapeError.
  void add(int iteration, const Eigen::Ref<const Eigen::VectorXd>& log10_resistivity);

 private:
  MPI_Comm comm_;
  std::filesystem::path folder_;
  std::string stem_;
  physics::mesh::Earth earth_;
  physics::mesh::Frame frame_;
};

/// Returns what writes the model of every iteration for ParaView, counted over all stages: `model_0000.vtu` …
/// and `model.pvd`. errors, when a stage begins: FileError.
[[nodiscard]] inversion::Inversion::DirectiveMaker save_models(MPI_Comm comm, std::string folder);

}  // namespace lodestone::io::vtk
