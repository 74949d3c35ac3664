// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/optimize/optimizer.hpp"
#include "physics/mt/survey.hpp"

#include <optional>
#include <string>

namespace lodestone::mt_invert::method {

/// What a run was started with; a resumed run must have the same.
struct RunInputs {
  std::string config_toml;
  physics::mt::ObservedData data;
  Eigen::VectorXd start;   ///< of the unknowns
  std::string networks{};  ///< of a learned prior: `Subdomains::identity`
};

/// The progress of a run: the state of its present stage and how the stage before ended (its `predicted` is
/// not kept).
struct RunState {
  inversion::optimize::InversionState state;
  std::optional<inversion::optimize::InversionSummary> before{};
};

/// errors: FileError.
void write_checkpoint(const std::string& path, const RunInputs& inputs, const RunState& run);

/// The saved state. errors: FileError, FormatError; ConfigError that says what differs when configuration,
/// data or networks are not those of the checkpoint (titles, output, uncertainty and the maximal number of
/// iterations may differ).
[[nodiscard]] RunState read_checkpoint(const std::string& path, const RunInputs& inputs);

/// "key: old → new" for every key that differs between two configurations and matters for the result; empty
/// when none does.
[[nodiscard]] std::string config_difference(const std::string& old_toml, const std::string& new_toml);

}  // namespace lodestone::mt_invert::method
