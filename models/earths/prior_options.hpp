// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/options.hpp"
#include "models/earths/prior.hpp"
#include "models/earths/sections.hpp"

#include <functional>
#include <string>
#include <vector>

namespace lodestone::models::earths {

/// Reads a file of the user as a section; the path is as the configuration gives it. Errors of the file are
/// the reader's.
using LoadSection = std::function<Section(const std::string& path)>;

/// Returns the grid of a configuration's table `[grid]`.
/// errors: ConfigError with file:line.
[[nodiscard]] TensorGrid read_patch_grid(const core::Options& table);

/// Returns the prior of a configuration's tables `[grid]` and `[prior]`; every key is described in
/// docs/configuration.md. errors: ConfigError with file:line and the key (a range that is impossible, an
/// unknown kind with the nearest word, no generator).
[[nodiscard]] Prior read_prior(const core::Options& root, const LoadSection& load_section);

/// Returns one generator with its modifiers from a table with the key `kind`.
/// errors: as above.
[[nodiscard]] GeneratorPtr read_generator(const core::Options& table, const LoadSection& load_section);

/// Returns the words that `kind` takes, of generators and of modifiers.
[[nodiscard]] std::vector<std::string> generator_kinds();
[[nodiscard]] std::vector<std::string> modifier_kinds();

}  // namespace lodestone::models::earths
