// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/array_io.hpp"
#include "engine/core/data_set.hpp"
#include "inversion/optimize/optimizer.hpp"

#include <optional>
#include <string>

namespace lodestone::inversion {

/// The inputs of a run; a resumed run must have the same.
struct RunInputs {
  std::string configuration{};  ///< TOML with every key in force; "" without one
  core::DataSet data{};
  Eigen::VectorXd start{};  ///< start values of the unknowns
  std::string decoders{};   ///< `prior::Regions::identity`; empty without a learned prior
  std::string earth{};      ///< `identity` of the problem
};

/// The progress of a run: the state of its present stage, and how the stages before ended (without their
/// predictions).
struct RunState {
  optimize::InversionState state{};
  std::optional<optimize::InversionSummary> before{};    ///< the codes before a polish
  std::optional<optimize::InversionSummary> iterated{};  ///< the iterations before last steps
};

/// Writes inputs and progress.
void write_checkpoint(core::ArraySink& sink, const RunInputs& inputs, const RunState& run);

/// Reads the saved progress. errors: FormatError when the source is no checkpoint; ConfigError that states
/// what differs when configuration, data, earth or decoders are not those of the checkpoint. Titles, output,
/// uncertainty and the maximal number of iterations may differ.
[[nodiscard]] RunState read_checkpoint(const core::ArraySource& source, const RunInputs& inputs);

/// Describes a checkpoint: the iteration it was written after, and the rms there. errors: FormatError.
[[nodiscard]] std::string describe_checkpoint(const core::ArraySource& source);

/// Returns "key: old → new" for every key that differs between two configurations and matters for the result;
/// "" when none does.
[[nodiscard]] std::string config_difference(const std::string& old_toml, const std::string& new_toml);

}  // namespace lodestone::inversion
