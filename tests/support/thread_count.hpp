// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/parallel.hpp"

namespace lodestone::tests {

/// Sets the number of threads for a scope.
class ThreadCount {
 public:
  explicit ThreadCount(int n) { core::set_threads(n); }
  ~ThreadCount() { core::set_threads(before_); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_ = core::threads();
};

}  // namespace lodestone::tests
