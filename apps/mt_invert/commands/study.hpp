// SPDX-License-Identifier: Apache-2.0
// Small on purpose: what `selftest vae-synthetic` adds to models/study.
#pragma once

#include "apps/mt_invert/cli/command_line.hpp"
#include "apps/mt_invert/selftest/selftest.hpp"
#include "models/study/study.hpp"

#include <mpi.h>

#include <filesystem>

namespace lodestone::mt_invert::commands {

/// Returns what keeps the files of a study in a folder: models/ (the sections as model files), data/
/// (impedances, kept for the next time) and sections/ (HDF5; pictures and ParaView files of sections that are
/// worth drawing). errors: FileError, FormatError.
[[nodiscard]] models::study::Files study_files(const std::filesystem::path& folder);

/// Compares cells, Gaussian and learned priors on synthetic sections; takes minutes to an hour. collective:
/// all.
[[nodiscard]] selftest::SelftestReport selftest_vae_synthetic(MPI_Comm comm,
                                                              const cli::StudyArguments& arguments);

}  // namespace lodestone::mt_invert::commands
