// SPDX-License-Identifier: Apache-2.0
#include "engine/core/mpi/rank_zero.hpp"

#include "engine/core/error.hpp"
#include "engine/core/mpi/communicator.hpp"
#include "engine/core/mpi/waiting.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace lodestone::core {
namespace {

/// The error of an action as exit code and text; nothing when it went well.
std::optional<Error> error_of(const std::function<void()>& action) {
  try {
    action();
    return {};
  } catch (const Error& error) {
    return error;
  } catch (const std::filesystem::filesystem_error& error) {
    return FileError("core::on_rank_zero#file_system", "{}", error.what());
  } catch (const std::exception& error) {
    return Error(ExitCode::unexpected,
                 fmt::format("[unexpected] {}; please report this with the command you ran", error.what()),
                 "unexpected#exception");
  }
}

}  // namespace

void on_rank_zero(MPI_Comm comm, const std::function<void()>& action) { on_first_ranks(comm, 1, action); }

void on_first_ranks(MPI_Comm comm, int n_ranks, const std::function<void()>& action) {
  int started = 0;
  MPI_Initialized(&started);
  if (started == 0) return action();
  std::optional<Error> error;
  if (rank_of(comm) < n_ranks) error = error_of(action);
  const int here = error ? rank_of(comm) : size_of(comm);
  int first = 0;  // that failed; the number of ranks where none did
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&here, &first, 1, MPI_INT, MPI_MIN, comm, &request);
  wait_with_pauses(request);
  if (first == size_of(comm)) return;
  int code = error ? static_cast<int>(error->exit_code()) : 0;
  MPI_Bcast(&code, 1, MPI_INT, first, comm);
  const std::string text = broadcast_text(comm, error ? error->what() : std::string(), first);
  throw Error(static_cast<ExitCode>(code), text,
              broadcast_text(comm, error ? error->place() : std::string(), first));
}

}  // namespace lodestone::core
