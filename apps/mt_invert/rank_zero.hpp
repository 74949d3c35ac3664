// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <functional>
#include <string_view>

namespace lodestone::mt_invert {

/// Runs `action` on rank 0 alone (writing files); its error is thrown on every rank, so that all stop together with one message. collective.
void on_rank_zero(MPI_Comm comm, const std::function<void()>& action);

/// Writes to standard output, past the log. errors: FileError when it is full or closed.
void print_out(std::string_view text);

}  // namespace lodestone::mt_invert
