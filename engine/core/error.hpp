// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace lodestone::core {

/// The exit status of a program; part of the command-line contract.
enum class ExitCode : int {
  ok = 0,
  unexpected = 1,
  configuration = 2,
  file = 3,
  format = 4,
  argument = 5,
  solver = 6,
  device = 7,
  not_converged = 10,
  interrupted = 11,
  selftest_failed = 12,
};

/// A place in the program with the identifier of what happened there: `mt::select#no_usable_datum`.
///
/// The part before '#' is the component, which people read; the part after it is the id, which tests and JSON
/// logs compare. An id consists of lower-case letters, digits and underscores and begins with a letter.
/// Without a well-formed id the whole text is the component.
struct Place {
  std::string_view component, id;

  constexpr Place() = default;
  constexpr explicit Place(std::string_view text) : component(text) {
    const auto mark = text.rfind('#');
    if (mark == std::string_view::npos || !is_id(text.substr(mark + 1))) return;
    component = text.substr(0, mark);
    id = text.substr(mark + 1);
  }
  [[nodiscard]] static constexpr bool is_id(std::string_view text) {
    if (text.empty() || text.front() < 'a' || text.front() > 'z') return false;
    for (const char c : text) {
      if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_') return false;
    }
    return true;
  }
};

/// Base of all errors thrown on purpose. The text reads `[component] expected …, got …; what to do`.
class Error : public std::runtime_error {
 public:
  /// `place` is the component with its id, `mt::select#no_usable_datum`; the message states the component
  /// already.
  Error(ExitCode code, const std::string& message, std::string_view place = {})
      : std::runtime_error(message), code_(code), place_(std::make_shared<const std::string>(place)) {}
  [[nodiscard]] ExitCode exit_code() const noexcept { return code_; }
  /// Returns the identifier of the error, "no_usable_datum"; empty without one.
  [[nodiscard]] std::string id() const { return std::string(Place(*place_).id); }
  /// Returns where the error occurred, "mt::select"; empty when only the message states it.
  [[nodiscard]] std::string component() const { return std::string(Place(*place_).component); }
  /// Returns component and id as they were given, for handing the error on to other ranks.
  [[nodiscard]] const std::string& place() const noexcept { return *place_; }

 private:
  ExitCode code_;
  std::shared_ptr<const std::string> place_;  ///< shared, so that a copy of the error cannot throw
};

/// A whole text that states its component already, for handing on the error of another rank.
struct Worded {
  std::string text;
  std::string place = {};  ///< component and id of that error

  [[nodiscard]] bool empty() const { return text.empty(); }
};

/// Returns text and place of an error, for handing it on.
[[nodiscard]] inline Worded worded(const Error& error) { return {error.what(), error.place()}; }

/// One error class: `throw ShapeError("mt::d2::Simulation#wrong_size", "expected {} resistivities, got {}",
/// n, m);` prints the component without its id.
template <ExitCode code>
class ErrorOf : public Error {
 public:
  template <class... Args>
  explicit ErrorOf(std::string_view place, fmt::format_string<Args...> text, Args&&... args)
      : Error(code,
              fmt::format("[{}] {}", Place(place).component, fmt::format(text, std::forward<Args>(args)...)),
              place) {}
  explicit ErrorOf(const Worded& message) : Error(code, message.text, message.place) {}
};

// Each class owns an exit code.
struct InvalidArgument : ErrorOf<ExitCode::argument> {
  using ErrorOf::ErrorOf;
};
struct ShapeError : ErrorOf<ExitCode::argument> {
  using ErrorOf::ErrorOf;
};
/// A file is missing, unreadable or unwritable.
struct FileError : ErrorOf<ExitCode::file> {
  using ErrorOf::ErrorOf;
};
/// A file is readable, but its content is not what it should be; the message carries file:line.
struct FormatError : ErrorOf<ExitCode::format> {
  using ErrorOf::ErrorOf;
};
struct ConfigError : ErrorOf<ExitCode::configuration> {
  using ErrorOf::ErrorOf;
};
struct SolverError : ErrorOf<ExitCode::solver> {
  using ErrorOf::ErrorOf;
};
struct DeviceError : ErrorOf<ExitCode::device> {
  using ErrorOf::ErrorOf;
};

}  // namespace lodestone::core
