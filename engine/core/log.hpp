// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/error.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lodestone::core::log {

/// The component and the id of a message, which JSON lines carry as "component" and "id" and people do not
/// see: `log::warning(log::Id("mt::d2::simulation#idle_ranks"), "{} ranks stay idle", n);`
class Id {
 public:
  /// A text without a well-formed id does not compile.
  consteval explicit Id(std::string_view place) : place_(place) {
    if (place_.id.empty())
      throw "expected component#id, the id of lower-case letters, digits and underscores";
  }
  [[nodiscard]] constexpr const Place& place() const { return place_; }

 private:
  Place place_;
};

enum class Level { debug, info, warning, error };
enum class Format { human, json_lines };

/// The destinations of messages. Only the rank that owns the log prints (see `set_silent`); warnings and
/// errors go to stderr, the rest to stdout.
struct LogOptions {
  Level level = Level::info;
  Format format = Format::human;
  std::string file = {};  ///< also append JSON lines to this file; empty: none
};

void configure(const LogOptions& options);
/// Ranks other than 0 keep quiet; errors still print.
void set_silent(bool silent);
/// Returns true when stdout is a terminal and the format is human: progress bars are allowed.
[[nodiscard]] bool is_interactive();

/// Writes the result of a command to standard output, past the log. Where that is a pipe whose reader has
/// ended, ends the process by SIGPIPE. errors: FileError when it is full or closed.
void print_out(std::string_view text);

/// Writes one message. `place`: its component and id, if it has any.
void write(Level level, std::string_view message, const Place& place = {});
/// Returns the number of messages of this level since the start (used by summaries and tests).
[[nodiscard]] int count(Level level);

/// Keeps the warnings that are printed while it lives, in their order and each of them once; reports list
/// them. A process may have several.
class KeptWarnings {
 public:
  struct Warning {
    std::string id;  ///< "mt::d2::simulation#idle_ranks"; empty: none
    std::string text;
    friend bool operator==(const Warning&, const Warning&) = default;
  };
  static constexpr std::size_t most = 1000;  ///< further ones are not kept

  KeptWarnings();
  ~KeptWarnings();
  KeptWarnings(const KeptWarnings&) = delete;
  KeptWarnings& operator=(const KeptWarnings&) = delete;

  [[nodiscard]] std::vector<Warning> all() const;

 private:
  friend void write(Level, std::string_view, const Place&);
  std::vector<Warning> warnings_;  ///< guarded by the mutex of the log
};

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
void warning(const Id& id, fmt::format_string<Args...> text, Args&&... args) {
  write(Level::warning, fmt::format(text, std::forward<Args>(args)...), id.place());
}
template <class... Args>
void error(fmt::format_string<Args...> text, Args&&... args) {
  write(Level::error, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void error(const Id& id, fmt::format_string<Args...> text, Args&&... args) {
  write(Level::error, fmt::format(text, std::forward<Args>(args)...), id.place());
}

}  // namespace lodestone::core::log
