// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/generate/host_jit.hpp"
#include "tests/support/temporary_folder.hpp"

#include <cstdlib>

namespace lodestone::tests {

/// The compiler that made the tests, unless LODESTONE_CC names another one.
inline const std::string compiler_of_tests = [] {
  const char* other = std::getenv("LODESTONE_CC");
  return std::string(other == nullptr ? LODESTONE_TEST_COMPILER : other);
}();

/// Options with which functions are made while one waits, kept in a folder of the test.
inline engine::JitOptions jit_options(const TemporaryFolder& folder,
                                      engine::JitMode mode = engine::JitMode::wait) {
  return {.mode = mode, .compiler = compiler_of_tests, .folder = folder.path() / "kernels"};
}

/// Makes functions of text for a test, which fails where there is no compiler.
class TestJit {
 public:
  [[nodiscard]] engine::HostJit& operator*() { return jit_; }
  [[nodiscard]] engine::HostJit* operator->() { return &jit_; }

 private:
  TemporaryFolder folder_;
  engine::HostJit jit_{jit_options(folder_)};
};

}  // namespace lodestone::tests
