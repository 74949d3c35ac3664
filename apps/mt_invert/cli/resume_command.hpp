// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace lodestone::mt_invert::cli {

/// Returns a word quoted for a POSIX shell: in single quotes if it holds more than letters, digits and _ - .
/// / : = , + @ %.
[[nodiscard]] std::string shell_quoted(const std::string& word);

/// Returns the command that continues a stopped run: "mt_invert <command> <config> --set … -o <folder>
/// --resume", with the assignments it was started with.
[[nodiscard]] std::string resume_command(const std::string& command, const std::string& config_path,
                                         const std::vector<std::string>& assignments,
                                         const std::string& folder);

}  // namespace lodestone::mt_invert::cli
