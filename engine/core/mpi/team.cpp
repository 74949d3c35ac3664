// SPDX-License-Identifier: Apache-2.0
#include "engine/core/mpi/team.hpp"

#include "engine/core/mpi/communicator.hpp"

#include <algorithm>

namespace lodestone::core {

Team::Team(MPI_Comm comm) : comm_(comm) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized == 0) return;
  rank_ = core::rank_of(comm);
  size_ = core::size_of(comm);
}

void Team::broadcast(Eigen::Ref<Eigen::MatrixXd> values, int root) const {
  if (size_ == 1) return;
  constexpr Eigen::Index most = Eigen::Index{1} << 30;  // MPI counts are int
  for (Eigen::Index first = 0; first < values.size(); first += most)
    MPI_Bcast(values.data() + first, static_cast<int>(std::min(most, values.size() - first)), MPI_DOUBLE,
              root, comm_);
}

void Team::to_root(Eigen::MatrixXd& values, int owner) const {
  if (owner == 0) return;
  const int count = static_cast<int>(values.size());
  if (rank_ == owner) MPI_Send(values.data(), count, MPI_DOUBLE, 0, 0, comm_);
  if (rank_ == 0) MPI_Recv(values.data(), count, MPI_DOUBLE, owner, 0, comm_, MPI_STATUS_IGNORE);
}

void Team::share_columns(const std::vector<int>& owner, Eigen::Ref<Eigen::MatrixXd> values) const {
  if (size_ > 1) core::share_columns(comm_, owner, values);
}

std::vector<int> Team::deal_rows(const std::vector<std::uint8_t>& held) const {
  if (size_ > 1) return core::deal_rows(comm_, held);
  std::vector<int> owner;
  for (const std::uint8_t here : held) owner.push_back(here != 0 ? 0 : -1);
  return owner;
}

void Team::throw_together(const Worded& failure) const {
  if (size_ > 1) {
    core::throw_together(comm_, failure);
  } else if (!failure.empty()) {
    throw core::SolverError(failure);
  }
}

int Team::on_machine() const {
  if (size_ == 1) return 1;
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  const int n_ranks = core::size_of(machine);
  MPI_Comm_free(&machine);
  return n_ranks;
}

int Team::max(int here) const {
  int result = here;
  if (size_ > 1) MPI_Allreduce(&here, &result, 1, MPI_INT, MPI_MAX, comm_);
  return result;
}

}  // namespace lodestone::core
