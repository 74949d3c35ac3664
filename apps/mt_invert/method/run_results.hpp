// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/method/observations.hpp"
#include "apps/mt_invert/method/problem.hpp"
#include "inversion/inversion.hpp"
#include "io/run/folder.hpp"
#include "io/run/result.hpp"

namespace lodestone::mt_invert::method {

/// Everything a finished run leaves; turned into files by `finish_run`.
struct FinishedRun {
  const config::Config& config;
  const Observations& observations;
  const Setup& setup;
  const io::run::RunFolder& folder;
  const inversion::Outcome& outcome;
  io::run::Provenance provenance;
};

/// Writes result.h5, CSV files, files for ParaView and the report, as the configuration asks. Call on one
/// rank. errors: FileError.
void write_run_files(const config::Config& config, const io::run::RunFolder& folder,
                     const io::run::InversionResult& result);

/// Measures the errors of the meshes, writes results and report, and returns the exit code. collective.
/// errors: SolverError when the inversion failed, after the files are written.
[[nodiscard]] int finish_run(FinishedRun run);

/// Writes report.html and pictures of a result (and says where). Call on one rank.
void write_report_of(const std::filesystem::path& folder, const io::run::InversionResult& result);

}  // namespace lodestone::mt_invert::method
