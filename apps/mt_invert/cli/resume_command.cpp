// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/cli/resume_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace lodestone::mt_invert::cli {

std::string shell_quoted(const std::string& word) {
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_-./:=,+@%").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

std::string resume_command(const std::string& command, const std::string& config_path,
                           const std::vector<std::string>& assignments, const std::string& folder) {
  std::string text = fmt::format("mt_invert {} {}", command, shell_quoted(config_path));
  for (const std::string& each : assignments) text += " --set " + shell_quoted(each);
  return text + fmt::format(" -o {} --resume", shell_quoted(folder));
}

}  // namespace lodestone::mt_invert::cli
