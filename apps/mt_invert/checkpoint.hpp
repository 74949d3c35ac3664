// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/optimiser.hpp"
#include "physics/mt/survey.hpp"

#include <string>

namespace lodestone::mt_invert {

/// What a run was started with; a resumed run must have the same.
struct RunInputs {
  std::string config_toml;
  physics::mt::ObservedData data;
  Eigen::VectorXd start;  ///< of the unknowns
};

/// errors: FileError.
void write_checkpoint(const std::string& path, const RunInputs& inputs, const inversion::InversionState& state);

/// The saved state. errors: FileError, FormatError; ConfigError that says what differs when configuration or data are not those of the checkpoint
/// (titles, output and the maximal number of iterations may differ).
[[nodiscard]] inversion::InversionState read_checkpoint(const std::string& path, const RunInputs& inputs);

/// "key: old → new" for every key that differs between two configurations and matters for the result; empty when none does.
[[nodiscard]] std::string config_difference(const std::string& old_toml, const std::string& new_toml);

}  // namespace lodestone::mt_invert
