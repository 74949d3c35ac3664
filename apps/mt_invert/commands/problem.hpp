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

/// Inverts each station of a configuration for a layered earth. Reads its model and surface files. errors:
/// those of the readers and of inversion::mt::stitch_soundings; ConfigError with file:line on a key.
[[nodiscard]] inversion::Outcome stitch_soundings(MPI_Comm comm, const config::Config& config,
                                                  const physics::mt::Observations& observed);

/// Makes the problem of a configuration; reads the networks of a learned prior. errors: those of
/// inversion::mt::problem; FileError, FormatError of the networks; ConfigError with file:line on a key.
[[nodiscard]] inversion::Problem make_problem(MPI_Comm comm, const config::Config& config,
                                              const physics::mt::Observations& observed, int dimension);

}  // namespace lodestone::mt_invert::commands
