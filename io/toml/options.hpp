// SPDX-License-Identifier: Apache-2.0
// Small on purpose: hides the TOML library from all who read options.
#pragma once

#include "engine/core/options.hpp"

#include <string>

namespace lodestone::io::toml {

/// Reads a TOML file as an options tree; every key keeps its file:line.
/// errors: FileError; ConfigError with file:line on a syntax error or a value no option can hold (dates,
/// mixed arrays).
[[nodiscard]] core::Options read_options_toml(const std::string& path);
[[nodiscard]] core::Options parse_options_toml(const std::string& text, const std::string& path);

/// Sets one `dotted.key=value` of the command line; the value is TOML, or plain text where it is no TOML
/// value. `name[0].key` is a key of a table in an array of tables that is there; an array of tables as value
/// takes the place of the one there is. errors: ConfigError.
void set_option(core::Options& options, const std::string& assignment);

}  // namespace lodestone::io::toml
