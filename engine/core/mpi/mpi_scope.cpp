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

/// Hashes of the message that a rank is about to print. With its rank in front it is what others print whom
/// that rank has told.
struct Spoken {
  std::uint64_t plain = 0, named = 0;
  friend bool is_same(const Spoken& a, const Spoken& b) {
    return a.plain == b.plain || a.plain == b.named || a.named == b.plain;
  }
};

/// Exchanges what ranks are about to print. Its buffers outlive it, since messages to a rank that never comes
/// do not end: MPI_Abort follows then.
class SpokenByAll {
 public:
  SpokenByAll(MPI_Comm comm, int rank, int size, const Spoken& own)
      : own_(own), all_(static_cast<std::size_t>(size)), requests_(2 * all_.size(), MPI_REQUEST_NULL) {
    all_[static_cast<std::size_t>(rank)] = own;
    for (int peer = 0; peer < size; ++peer) {
      if (peer == rank) continue;
      const auto at = static_cast<std::size_t>(peer);
      MPI_Irecv(&all_[at], 2, MPI_UINT64_T, peer, 0, comm, &requests_[2 * at]);
      MPI_Isend(&own_, 2, MPI_UINT64_T, peer, 0, comm, &requests_[2 * at + 1]);
    }
  }
  /// Returns whether all have come in time.
  bool wait() {
    const auto deadline = std::chrono::steady_clock::now() + failure_grace;
    int done = 0;
    while (true) {
      MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
      if (done != 0) return true;
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(poll_interval);
    }
  }
  /// Returns the first rank that says the same as this one.
  [[nodiscard]] int first_like_own() const {
    return static_cast<int>(
        std::ranges::find_if(all_, [&](const Spoken& each) { return is_same(each, own_); }) - all_.begin());
  }
  /// Returns whether another rank has the message of this one, or this one that of another.
  [[nodiscard]] bool was_told() const {
    return std::ranges::any_of(all_, [&](const Spoken& each) { return each.plain == own_.named; });
  }
  [[nodiscard]] bool was_heard() const {
    return std::ranges::any_of(all_, [&](const Spoken& each) { return each.named == own_.plain; });
  }

 private:
  Spoken own_;
  std::vector<Spoken> all_;
  std::vector<MPI_Request> requests_;
};

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
  std::string named = of_rank(rank_, size_, message);
  static SpokenByAll* all = nullptr;
  all = new SpokenByAll(failures_, rank_, size_, {hash_of(message), hash_of(named)});
  all_failed_ = all->wait();
  if (all->first_like_own() != rank_) {
    // The rank that prints must not be aborted before it has.
    if (!all_failed_) std::this_thread::sleep_for(failure_grace / 4);
    return {};
  }
  // Otherwise the message is that of all ranks, or names the rank from which they have it.
  return all->was_told() || (!all_failed_ && !all->was_heard()) ? named : message;
}

void MpiScope::abort(int exit_code) noexcept {
  if (size_ > 1 && (!all_failed_ || must_abort)) MPI_Abort(MPI_COMM_WORLD, exit_code);
}

std::string of_rank(int rank, int size, const std::string& message) {
  return size == 1 ? message : fmt::format("rank {} of {}: {}", rank, size, message);
}

void abort_after_failure() noexcept { must_abort = true; }

int mpi_program(int argc, char** argv, const std::function<int(MPI_Comm comm)>& body) {
  Session session;
  const MpiScope& mpi = session.start<MpiScope>(argc, argv);
  return session.run([&] { return body(mpi.world()); });
}

}  // namespace lodestone::core
