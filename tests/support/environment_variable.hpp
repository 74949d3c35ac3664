// SPDX-License-Identifier: Apache-2.0
// Small on purpose: few tests change the environment.
#pragma once

#include <cstdlib>
#include <string>

namespace lodestone::tests {

/// Sets a variable of the environment while it lives; an empty text removes it.
class EnvironmentVariable {
 public:
  EnvironmentVariable(const char* name, const std::string& text) : name_(name) {
    if (const char* value = std::getenv(name)) before_ = value;
    set(text);
  }
  ~EnvironmentVariable() { set(before_); }
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

 private:
  void set(const std::string& text) const {
    if (text.empty()) {
      unsetenv(name_);
    } else {
      setenv(name_, text.c_str(), 1);
    }
  }
  const char* name_;
  std::string before_;
};

}  // namespace lodestone::tests
