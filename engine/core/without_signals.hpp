// SPDX-License-Identifier: Apache-2.0
// Small on purpose: all that starts threads beside those of the program.
#pragma once

#include <csignal>

namespace lodestone::core {

/// Threads that are started while one lives answer no signal: the program's own threads do.
class WithoutSignals {
 public:
  WithoutSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace lodestone::core
