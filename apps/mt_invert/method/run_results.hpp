// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/method/checkpoint.hpp"
#include "apps/mt_invert/method/run_folder.hpp"
#include "apps/mt_invert/method/stages.hpp"
#include "apps/mt_invert/method/static_shifts.hpp"
#include "inversion/optimize/optimizer.hpp"
#include "io/run/result.hpp"

namespace lodestone::mt_invert::method {

/// Everything a finished run knows; turned into files by `finish_run`.
struct FinishedRun {
  const config::Config& config;
  const Observations& observations;
  const Stage &first, &last;  ///< the same without a polish
  const RunFolder& folder;
  const inversion::optimize::InversionSummary& summary;  ///< of the last stage
  const std::optional<io::run::Uncertainty>& uncertainty;
  io::run::Provenance provenance;
};

/// Misfit of observed data on all their keys (least squares where the threshold of Huber's norm is 0), and
/// below them of the shifts against their prior.
[[nodiscard]] inversion::objective::DataMisfit misfit_of(const physics::mt::ObservedData& data,
                                                         double huber_threshold,
                                                         const ShiftPrior& prior = {});

/// result.h5, CSV files, files for ParaView and the report, as the configuration asks. Call on one rank.
/// errors: FileError.
void write_run_files(const config::Config& config, const RunFolder& folder,
                     const io::run::InversionResult& result);

/// Recomputes responses at the final accuracy, writes results and report, and returns the exit code.
/// collective.
[[nodiscard]] int finish_run(FinishedRun run);

/// Writes report.html and pictures of a result (and says where). Call on one rank.
void write_report_of(const std::filesystem::path& folder, const io::run::InversionResult& result);

}  // namespace lodestone::mt_invert::method
