// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace lodestone::mt_invert::cli {

/// A word as a POSIX shell takes it back: in single quotes where it holds more than letters, digits and _ - .
/// / : = , + @ %.
[[nodiscard]] std::string shell_quoted(const std::string& word);

/// What to type to go on with a stopped run: "mt_invert <command> <config> --set … -o <folder> --resume",
/// with the assignments it was started with.
[[nodiscard]] std::string resume_command(const std::string& command, const std::string& config_path,
                                         const std::vector<std::string>& assignments,
                                         const std::string& folder);

}  // namespace lodestone::mt_invert::cli
