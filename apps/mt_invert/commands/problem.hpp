// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the only place in which a configuration becomes options of the library.
#pragma once

#include "apps/mt_invert/config/config.hpp"
#include "inversion/mt/recipe.hpp"

#include <mpi.h>

namespace lodestone::mt_invert::commands {

/// Reads the stations of a configuration, places them on a profile, or for 3 dimensions on a map, and selects
/// data. errors: those of io::survey::observe; ConfigError on what the configuration names in vain.
[[nodiscard]] physics::mt::Observations observe(const config::DataConfig& data,
                                                const config::ProfileConfig& profile, int dimension);

/// Returns the choices of a configuration about earth and simulations. Reads its model and surface files.
/// errors: those of the readers.
[[nodiscard]] inversion::mt::ProblemOptions problem_options(const config::Config& config, int dimension);

/// Returns the texts of a run.
[[nodiscard]] inversion::About about(const config::Config& config);

/// Makes the problem of a configuration; reads the networks of a learned prior. errors: those of
/// inversion::mt::problem; FileError, FormatError of the networks.
[[nodiscard]] inversion::Problem make_problem(MPI_Comm comm, const config::Config& config,
                                              const physics::mt::Observations& observed, int dimension);

}  // namespace lodestone::mt_invert::commands
