// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the whole output of a run.
#pragma once

#include "engine/core/log.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "inversion/inversion.hpp"

#include <filesystem>

namespace lodestone::io::run {

/// The files that are written beside `result.h5`.
struct WriteOptions {
  bool vtk = true;                                    ///< files for ParaView, in the folder "vtk"
  bool report = true;                                 ///< "report.html" and its pictures
  const core::log::KeptWarnings* warnings = nullptr;  ///< put into the outcome before it is written
};

/// Writes an outcome into a folder, which is made, and logs where the files are: `result.h5`, `section.csv`
/// of a section, NAME.csv of each table with a file of its own, and what the options state. A stopped run
/// leaves nothing but a warning. Returns the exit code of the run. collective. errors: FileError, ShapeError;
/// after writing, SolverError when the inversion failed.
[[nodiscard]] int write(MPI_Comm comm, const std::filesystem::path& folder, inversion::Outcome outcome,
                        const WriteOptions& options = {});

/// Writes the outcome of a run as above. Then measures the errors of its forward meshes, and writes
/// `result.h5` and the report once more with these. A stop of the run from outside ends the measurement; the
/// files are then as they were.
[[nodiscard]] int write(MPI_Comm comm, const std::filesystem::path& folder, const inversion::Inversion& run,
                        inversion::Outcome outcome, const WriteOptions& options = {});

}  // namespace lodestone::io::run
