// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/cli/command_line.hpp"
#include "io/survey/sites.hpp"

#include <Eigen/Core>

namespace lodestone::mt_invert::commands {

/// errors: FileError when the path is something else than a regular file, or its folder is missing.
void check_output_path(const std::string& path);

/// CSV, HDF5 or ModEM data by the ending of the name; CSV on standard output without a name. Call on one
/// rank.
void write_forward_output(const cli::ForwardArguments& arguments, const io::survey::ForwardSites& sites,
                          const Eigen::VectorXd& predicted);

/// Predictions in place of a ModEM file's data, errors kept, also where they are placeholders; for CSV sites
/// full impedances with errors of 5 %.
[[nodiscard]] physics::mt::ObservedData as_observed(const io::survey::ForwardSites& sites,
                                                    const Eigen::VectorXd& predicted);

}  // namespace lodestone::mt_invert::commands
