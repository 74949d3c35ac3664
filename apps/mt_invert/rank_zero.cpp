// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/rank_zero.hpp"

#include "engine/core/error.hpp"
#include "engine/core/mpi/communicator.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>

namespace lodestone::mt_invert {
namespace {

/// The error of an action as exit code and text; nothing when it went well.
std::optional<core::Error> error_of(const std::function<void()>& action) {
  try {
    action();
    return {};
  } catch (const core::Error& error) {
    return error;
  } catch (const std::filesystem::filesystem_error& error) {
    return core::FileError("mt_invert", "{}", error.what());
  } catch (const std::exception& error) {
    return core::Error(core::ExitCode::unexpected,
                       fmt::format("[unexpected] {}; please report this with the command you ran", error.what()));
  }
}

}  // namespace

void on_rank_zero(MPI_Comm comm, const std::function<void()>& action) {
  std::optional<core::Error> error;
  if (core::rank_of(comm) == 0) error = error_of(action);
  int code = error ? static_cast<int>(error->exit_code()) : 0;
  MPI_Bcast(&code, 1, MPI_INT, 0, comm);
  if (code == 0) return;
  throw core::Error(static_cast<core::ExitCode>(code), core::broadcast_text(comm, error ? error->what() : std::string()));
}

void print_out(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!written) {
    throw core::FileError("mt_invert", "cannot write to standard output: {}; free space or name a file with -o", std::strerror(errno));
  }
}

}  // namespace lodestone::mt_invert
