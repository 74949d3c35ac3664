// SPDX-License-Identifier: Apache-2.0
#include "engine/core/mpi/mpi_scope.hpp"

#include "engine/core/log.hpp"
#include "engine/core/mpi/default_threads.hpp"
#include "engine/core/parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

namespace lodestone::core {
namespace {

constexpr std::chrono::milliseconds failure_grace{2000};  // ranks that fail together differ by less than this
constexpr std::chrono::milliseconds poll_interval{2};

/// Open MPI started without mpirun forks a daemon, probes all networks (0.4 s) and makes a folder below /tmp.
/// All processes of the user share it: one that ends removes it while another one starts, which then fails (1
/// to 3 of 100, three at once). A lone process needs none of them. The user's own setting wins.
void prefer_fast_singleton() {
  for (const char* launched : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"}) {
    if (std::getenv(launched) != nullptr) return;
  }
  setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  setenv("OMPI_MCA_orte_create_session_dirs", "0", 0);
  setenv("OMPI_MCA_pml", "ob1", 0);
  setenv("OMPI_MCA_btl", "self", 0);
}

std::atomic<bool> must_abort{false};

/// FNV-1a: equal on all ranks for equal text, also between different builds of the standard library.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  return hash;
}

bool completes_in_time(MPI_Request& request) {
  const auto deadline = std::chrono::steady_clock::now() + failure_grace;
  int done = 0;
  while (true) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return true;
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(poll_interval);
  }
}

}  // namespace

MpiScope::MpiScope(int& argc, char**& argv) {
  prefer_fast_singleton();
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &thread_level_);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  MPI_Comm_dup(MPI_COMM_WORLD, &failures_);
  log::set_silent(rank_ != 0);
  set_threads(default_threads(MPI_COMM_WORLD));
}

MpiScope::~MpiScope() {
  MPI_Comm_free(&failures_);
  MPI_Finalize();
}

std::string MpiScope::agree_on_failure(std::string message) noexcept {
  if (size_ == 1) return message;
  // The buffers of a call that never completes must outlive this function: MPI_Abort follows then.
  static std::uint64_t mine;
  static std::vector<std::uint64_t> hashes;
  mine = hash_of(message);
  hashes.assign(static_cast<std::size_t>(size_), 0);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallgather(&mine, 1, MPI_UINT64_T, hashes.data(), 1, MPI_UINT64_T, failures_, &request);
  all_failed_ = completes_in_time(request);
  if (!all_failed_) return fmt::format("rank {} of {}: {}", rank_, size_, message);
  const auto first_with_this_message = std::ranges::find(hashes, mine) - hashes.begin();
  return first_with_this_message == rank_ ? message : std::string();
}

void MpiScope::abort(int exit_code) noexcept {
  if (size_ > 1 && (!all_failed_ || must_abort)) MPI_Abort(MPI_COMM_WORLD, exit_code);
}

void abort_after_failure() noexcept { must_abort = true; }

int mpi_program(int argc, char** argv, const std::function<int(MPI_Comm comm)>& body) {
  Session session;
  const MpiScope& mpi = session.start<MpiScope>(argc, argv);
  return session.run([&] { return body(mpi.world()); });
}

}  // namespace lodestone::core
