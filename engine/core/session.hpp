// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/error.hpp"

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lodestone::core {

/// A subsystem that must be up while the program runs (MPI, PETSc, a device). Construct = up, destroy = down.
class SubsystemScope {
 public:
  virtual ~SubsystemScope() = default;
  /// Called by the outermost catch, before anything is printed: finds out whether all ranks failed, and
  /// returns the message this rank has to print ("" when another rank prints the same one).
  virtual std::string agree_on_failure(std::string message) noexcept { return message; }
  /// Called by the outermost catch after printing: no other rank may be left waiting. Returns when the
  /// program can end in the normal way.
  virtual void abort(int exit_code) noexcept { (void)exit_code; }
};

/// The message of a program that ends by an exception.
struct LastWords {
  ExitCode code = ExitCode::unexpected;
  std::string text;
  std::string place;  ///< as `Error::place`
};
/// Returns them, also for exceptions of the standard library: those of file systems count as file errors.
[[nodiscard]] LastWords last_words_of(const std::exception_ptr& error);

/// The first local of `main`: owns the subsystem scopes in the order given and takes them down in reverse
/// order, last of all.
class Session {
 public:
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  template <class Scope, class... Args>
  Scope& start(Args&&... args) {
    auto scope = std::make_unique<Scope>(std::forward<Args>(args)...);
    Scope& result = *scope;
    scopes_.push_back(std::move(scope));
    return result;
  }
  /// Runs the body; turns an exception into a one-paragraph message on stderr and its exit code, and aborts
  /// the other ranks unless they failed as well. File-system exceptions of the standard library count as file
  /// errors.
  [[nodiscard]] int run(const std::function<int()>& body);

 private:
  [[nodiscard]] int fail(int exit_code, const std::string& message, std::string_view place) noexcept;
  std::vector<std::unique_ptr<SubsystemScope>> scopes_;
};

}  // namespace lodestone::core
