// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/options.hpp"

#include <string>

namespace lodestone::mt_invert::config {

/// The commands that read a configuration.
enum class ConfigKind { inversion, training };

/// errors: ConfigError where the tables are those of the other command only, which it names. Marks no key as
/// known.
void check_kind(const core::Options& root, ConfigKind kind, const std::string& path);

}  // namespace lodestone::mt_invert::config
