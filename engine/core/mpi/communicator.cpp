// SPDX-License-Identifier: Apache-2.0
#include "engine/core/mpi/communicator.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <limits>

namespace lodestone::core {
namespace {

// Entries sent at once: bounds buffers and keeps MPI's counts inside int; those of large matrices that are packed first shall stay in the cache.
constexpr Eigen::Index block_entries = Eigen::Index{1} << 22, cached_entries = Eigen::Index{1} << 17;

Eigen::Index block_columns(Eigen::Index entries, Eigen::Index rows, Eigen::Index copies) {
  return std::max<Eigen::Index>(1, entries / std::max<Eigen::Index>(1, rows * copies));
}

/// Rows of each rank, in order, from the owner of each row.
std::vector<std::vector<Eigen::Index>> rows_by_rank(const std::vector<int>& owner, int n_ranks) {
  std::vector<std::vector<Eigen::Index>> rows(static_cast<std::size_t>(n_ranks));
  for (std::size_t row = 0; row < owner.size(); ++row) {
    if (owner[row] < 0 || owner[row] >= n_ranks) {
      throw InvalidArgument("core::share_rows", "expected owners in 0 … {}, got {} for row {}", n_ranks - 1, owner[row], row);
    }
    rows[static_cast<std::size_t>(owner[row])].push_back(static_cast<Eigen::Index>(row));
  }
  return rows;
}

}  // namespace

int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  return size;
}

void share_rows(MPI_Comm comm, const std::vector<int>& owner, Eigen::MatrixXd& matrix) {
  if (static_cast<Eigen::Index>(owner.size()) != matrix.rows()) {
    throw ShapeError("core::share_rows", "expected one owner for each of the {} rows, got {}", matrix.rows(), owner.size());
  }
  const int n_ranks = size_of(comm);
  const auto rows = rows_by_rank(owner, n_ranks);
  if (n_ranks == 1) return;
  const auto here = static_cast<std::size_t>(rank_of(comm));
  const Eigen::Index step = block_columns(cached_entries, matrix.rows(), 1);
  std::vector<double> send, received;
  for (Eigen::Index first = 0; first < matrix.cols(); first += step) {
    const Eigen::Index n_columns = std::min(step, matrix.cols() - first);
    std::vector<int> counts, offsets;
    int total = 0;
    for (const auto& of_rank : rows) {
      counts.push_back(static_cast<int>(static_cast<Eigen::Index>(of_rank.size()) * n_columns));
      offsets.push_back(total);
      total += counts.back();
    }
    send.clear();
    for (Eigen::Index column = first; column < first + n_columns; ++column) {
      for (const Eigen::Index row : rows[here]) send.push_back(matrix(row, column));
    }
    received.resize(static_cast<std::size_t>(total));
    MPI_Allgatherv(send.data(), counts[here], MPI_DOUBLE, received.data(), counts.data(), offsets.data(), MPI_DOUBLE, comm);
    for (std::size_t rank = 0; rank < rows.size(); ++rank) {
      if (rank == here) continue;
      const double* from = received.data() + offsets[rank];
      for (Eigen::Index column = first; column < first + n_columns; ++column) {
        for (const Eigen::Index row : rows[rank]) matrix(row, column) = *from++;
      }
    }
  }
}

void sum_in_rank_order(MPI_Comm comm, Eigen::Ref<Eigen::MatrixXd> matrix) {
  const int n_ranks = size_of(comm);
  if (n_ranks == 1) return;
  const Eigen::Index step = block_columns(block_entries, matrix.rows(), n_ranks);
  for (Eigen::Index first = 0; first < matrix.cols(); first += step) {
    const Eigen::MatrixXd mine = matrix.middleCols(first, std::min(step, matrix.cols() - first));
    Eigen::MatrixXd all(mine.size(), n_ranks);
    MPI_Allgather(mine.data(), static_cast<int>(mine.size()), MPI_DOUBLE, all.data(), static_cast<int>(mine.size()), MPI_DOUBLE, comm);
    Eigen::VectorXd sum = all.col(0);
    for (int rank = 1; rank < n_ranks; ++rank) sum += all.col(rank);
    matrix.middleCols(first, mine.cols()) = sum.reshaped(mine.rows(), mine.cols());
  }
}

std::string broadcast_text(MPI_Comm comm, std::string text) {
  auto length = static_cast<std::int64_t>(text.size());
  MPI_Bcast(&length, 1, MPI_INT64_T, 0, comm);
  text.resize(static_cast<std::size_t>(length));
  MPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, 0, comm);
  return text;
}

bool any_rank(MPI_Comm comm, bool here) {
  int result = here ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &result, 1, MPI_INT, MPI_LOR, comm);
  return result != 0;
}

void throw_together(MPI_Comm comm, const std::string& message) {
  int first = message.empty() ? std::numeric_limits<int>::max() : rank_of(comm);
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm);
  if (first == std::numeric_limits<int>::max()) return;
  auto length = static_cast<int>(message.size());
  MPI_Bcast(&length, 1, MPI_INT, first, comm);
  std::string text = message;
  text.resize(static_cast<std::size_t>(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, first, comm);
  throw SolverError(Worded{text});
}

}  // namespace lodestone::core
