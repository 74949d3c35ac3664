// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/temporary_folder.hpp"

#include <cstdio>
#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace lodestone::tests {

/// Sends one standard stream (STDOUT_FILENO or STDERR_FILENO) into a file while it lives.
class Capture {
 public:
  explicit Capture(int descriptor) : descriptor_(descriptor), saved_(dup(descriptor)) {
    std::fflush(nullptr);
    const int file = open(path().c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    dup2(file, descriptor_);
    close(file);
  }
  ~Capture() { restore(); }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  /// Ends the capture and returns what was written.
  [[nodiscard]] std::string text() {
    restore();
    return text_of_file(path());
  }

 private:
  [[nodiscard]] std::string path() const { return folder_ / "captured"; }
  void restore() {
    if (saved_ < 0) return;
    std::fflush(nullptr);
    dup2(saved_, descriptor_);
    close(saved_);
    saved_ = -1;
  }

  TemporaryFolder folder_;
  int descriptor_, saved_;
};

/// The text of the exception of type E that `action` throws; "" when it throws none.
template <class E, class Action>
[[nodiscard]] std::string message_of(Action&& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  return {};
}

}  // namespace lodestone::tests
