// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/mpi/rank_zero.hpp"

#include <string_view>

namespace lodestone::mt_invert::commands {

using core::on_rank_zero;

/// Writes to standard output, past the log. errors: FileError when it is full or closed.
void print_out(std::string_view text);

}  // namespace lodestone::mt_invert::commands
