// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace lodestone::core {

/// What a program returns to the shell; part of the command-line contract.
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

/// Base of all errors thrown on purpose. The text reads `[component] expected …, got …; what to do`.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] ExitCode exit_code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// A whole text that names its component already, for handing on what another rank said.
struct Worded {
  std::string text;
};

/// One error class: `throw ShapeError("mt::Simulation2D", "expected {} resistivities, got {}", n, m);`
template <ExitCode code>
class ErrorOf : public Error {
 public:
  template <class... Args>
  explicit ErrorOf(std::string_view component, fmt::format_string<Args...> text, Args&&... args)
      : Error(code, fmt::format("[{}] {}", component, fmt::format(text, std::forward<Args>(args)...))) {}
  explicit ErrorOf(const Worded& message) : Error(code, message.text) {}
};

// clang-format off: one class, one line
struct InvalidArgument : ErrorOf<ExitCode::argument> {
  using ErrorOf::ErrorOf;
};
struct ShapeError : ErrorOf<ExitCode::argument> {
  using ErrorOf::ErrorOf;
};
struct FileError : ErrorOf<ExitCode::file> {
  using ErrorOf::ErrorOf;
};  ///< missing, unreadable, unwritable
struct FormatError : ErrorOf<ExitCode::format> {
  using ErrorOf::ErrorOf;
};  ///< readable, but not what it should be; carries file:line
struct ConfigError : ErrorOf<ExitCode::configuration> {
  using ErrorOf::ErrorOf;
};
struct SolverError : ErrorOf<ExitCode::solver> {
  using ErrorOf::ErrorOf;
};
struct DeviceError : ErrorOf<ExitCode::device> {
  using ErrorOf::ErrorOf;
};
// clang-format on

}  // namespace lodestone::core
