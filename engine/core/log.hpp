// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace lodestone::core::log {

enum class Level { debug, info, warning, error };
enum class Format { human, json_lines };

/// Where messages go. Only the rank that owns the log prints (see `set_silent`); warnings and errors go to
/// stderr, the rest to stdout.
struct LogOptions {
  Level level = Level::info;
  Format format = Format::human;
  std::string file = {};  ///< also append JSON lines to this file; empty: none
};

void configure(const LogOptions& options);
/// Ranks other than 0 keep quiet; errors still print.
void set_silent(bool silent);
/// True when stdout is a terminal and the format is human: progress bars are allowed.
[[nodiscard]] bool is_interactive();

void write(Level level, std::string_view message);
/// Number of messages of this level since the start (used by summaries and tests).
[[nodiscard]] int count(Level level);

template <class... Args>
void debug(fmt::format_string<Args...> text, Args&&... args) {
  write(Level::debug, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void info(fmt::format_string<Args...> text, Args&&... args) {
  write(Level::info, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void warning(fmt::format_string<Args...> text, Args&&... args) {
  write(Level::warning, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void error(fmt::format_string<Args...> text, Args&&... args) {
  write(Level::error, fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace lodestone::core::log
