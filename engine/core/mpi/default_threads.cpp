// SPDX-License-Identifier: Apache-2.0
#include "engine/core/mpi/default_threads.hpp"

#include "engine/core/log.hpp"
#include "engine/core/mpi/communicator.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <sched.h>
#include <string_view>
#include <thread>
#include <vector>

namespace lodestone::core {
namespace {

constexpr int most = 1024;  // as core::set_threads

std::optional<int> from_environment() {
  const char* value = std::getenv("OMP_NUM_THREADS");
  if (value == nullptr) return std::nullopt;
  const std::string_view text(value);
  int n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  const bool is_number = error == std::errc() && n >= 1 &&
                         (end == text.data() + text.size() || *end == ',');  // a list is for nested teams
  if (is_number) return std::min(n, most);
  log::warning(log::Id("core::default_threads#not_a_number"),
               "OMP_NUM_THREADS is \"{}\", not a number of threads; it is ignored", text);
  return std::nullopt;
}

/// Returns the processors of this rank, shared ones in parts. collective over the ranks of one node.
double processors_of_rank(MPI_Comm node) {
  const auto n_ranks = static_cast<std::size_t>(size_of(node));
  cpu_set_t mine;
  CPU_ZERO(&mine);
  const bool known = sched_getaffinity(0, sizeof mine, &mine) ==
                     0;  // fails where there are more than CPU_SETSIZE processors
  std::vector<cpu_set_t> all(n_ranks);
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, node);
  if (!known) return static_cast<double>(std::thread::hardware_concurrency()) / static_cast<double>(n_ranks);
  double share = 0.0;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &mine)) continue;
    share += 1.0 / static_cast<double>(std::ranges::count_if(
                       all, [&](const cpu_set_t& of_rank) { return CPU_ISSET(processor, &of_rank); }));
  }
  return share;
}

}  // namespace

int default_threads(MPI_Comm comm) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  const double share = processors_of_rank(node);
  MPI_Comm_free(&node);
  if (const auto wanted = from_environment()) return *wanted;
  return std::clamp(static_cast<int>(share + 1e-6), 1, most);
}

}  // namespace lodestone::core
