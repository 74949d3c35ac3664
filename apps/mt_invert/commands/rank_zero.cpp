// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/commands/rank_zero.hpp"

#include "engine/core/error.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace lodestone::mt_invert::commands {

void print_out(std::string_view text) {
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!written) {
    throw core::FileError("mt_invert",
                          "cannot write to standard output: {}; free space or name a file with -o",
                          std::strerror(errno));
  }
}

}  // namespace lodestone::mt_invert::commands
