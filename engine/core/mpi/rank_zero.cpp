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

void on_rank_zero(MPI_Comm comm, const std::function<void()>& action) {
  int started = 0;
  MPI_Initialized(&started);
  if (started == 0) return action();
  std::optional<Error> error;
  if (rank_of(comm) == 0) error = error_of(action);
  int code = error ? static_cast<int>(error->exit_code()) : 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(&code, 1, MPI_INT, 0, comm, &request);
  wait_with_pauses(request);
  if (code == 0) return;
  const std::string text = broadcast_text(comm, error ? error->what() : std::string());
  throw Error(static_cast<ExitCode>(code), text,
              broadcast_text(comm, error ? error->place() : std::string()));
}

}  // namespace lodestone::core
