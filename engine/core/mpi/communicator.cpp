// SPDX-License-Identifier: Apache-2.0
#include "engine/core/mpi/communicator.hpp"

#include <algorithm>
#include <limits>
#include <span>

namespace lodestone::core {
namespace {

// Entries sent at once: bounds buffers and keeps MPI's counts inside int; those of large matrices that are
// packed first shall stay in the cache.
constexpr Eigen::Index block_entries = Eigen::Index{1} << 22, cached_entries = Eigen::Index{1} << 17;

Eigen::Index block_columns(Eigen::Index entries, Eigen::Index rows, Eigen::Index copies) {
  return std::max<Eigen::Index>(1, entries / std::max<Eigen::Index>(1, rows * copies));
}

/// The words for shared lines in messages.
struct Lines {
  const char *component, *one, *several;
};
constexpr Lines rows_words{"core::share_rows", "row", "rows"},
    columns_words{"core::share_columns", "column", "columns"};

/// Returns the rows (or columns) of each rank, in order, from the owner of each.
std::vector<std::vector<Eigen::Index>> by_rank(const Lines& words, const std::vector<int>& owner,
                                               Eigen::Index size, int n_ranks) {
  if (std::ssize(owner) != size)
    throw ShapeError(std::string(words.component) + "#wrong_size",
                     "expected one owner for each of the {} {}, got {}", size, words.several, owner.size());
  std::vector<std::vector<Eigen::Index>> lines(static_cast<std::size_t>(n_ranks));
  for (std::size_t line = 0; line < owner.size(); ++line) {
    if (owner[line] < 0 || owner[line] >= n_ranks) {
      throw InvalidArgument(std::string(words.component) + "#wrong_owner",
                            "expected owners in 0 … {}, got {} for {} {}", n_ranks - 1, owner[line],
                            words.one, line);
    }
    lines[static_cast<std::size_t>(owner[line])].push_back(static_cast<Eigen::Index>(line));
  }
  return lines;
}

/// Entries of each rank in one exchange: counts and offsets.
struct Layout {
  std::vector<int> counts, offsets;
  int total = 0;
  void add(Eigen::Index count) {
    counts.push_back(static_cast<int>(count));
    offsets.push_back(total);
    total += counts.back();
  }
  void exchange(MPI_Comm comm, const std::vector<double>& send, std::vector<double>& received) const {
    received.resize(static_cast<std::size_t>(total));
    MPI_Allgatherv(send.data(), static_cast<int>(send.size()), MPI_DOUBLE, received.data(), counts.data(),
                   offsets.data(), MPI_DOUBLE, comm);
  }
};

}  // namespace

int rank_of(MPI_Comm comm) {
  int rank = 0;
  if (comm != MPI_COMM_SELF) MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 1;
  if (comm != MPI_COMM_SELF) MPI_Comm_size(comm, &size);
  return size;
}

void share_rows(MPI_Comm comm, const std::vector<int>& owner, Eigen::MatrixXd& matrix) {
  const int n_ranks = size_of(comm);
  const auto rows = by_rank(rows_words, owner, matrix.rows(), n_ranks);
  if (n_ranks == 1) return;
  const auto here = static_cast<std::size_t>(rank_of(comm));
  const Eigen::Index step = block_columns(cached_entries, matrix.rows(), 1);
  std::vector<double> send, received;
  for (Eigen::Index first = 0; first < matrix.cols(); first += step) {
    const Eigen::Index n_columns = std::min(step, matrix.cols() - first);
    Layout layout;
    for (const auto& of_rank : rows) layout.add(std::ssize(of_rank) * n_columns);
    send.clear();
    for (Eigen::Index column = first; column < first + n_columns; ++column) {
      for (const Eigen::Index row : rows[here]) send.push_back(matrix(row, column));
    }
    layout.exchange(comm, send, received);
    for (std::size_t rank = 0; rank < rows.size(); ++rank) {
      if (rank == here) continue;
      const double* from = received.data() + layout.offsets[rank];
      for (Eigen::Index column = first; column < first + n_columns; ++column) {
        for (const Eigen::Index row : rows[rank]) matrix(row, column) = *from++;
      }
    }
  }
}

void share_columns(MPI_Comm comm, const std::vector<int>& owner, Eigen::Ref<Eigen::MatrixXd> matrix) {
  const int n_ranks = size_of(comm);
  const auto columns = by_rank(columns_words, owner, matrix.cols(), n_ranks);
  if (n_ranks == 1) return;
  const auto here = static_cast<std::size_t>(rank_of(comm));
  const Eigen::Index step = block_columns(cached_entries, matrix.rows(), 1);  // of each rank at once
  Eigen::Index most = 0;
  for (const auto& of_rank : columns) most = std::max(most, static_cast<Eigen::Index>(of_rank.size()));
  std::vector<double> send, received;
  for (Eigen::Index first = 0; first < most; first += step) {
    const auto part = [&](const std::vector<Eigen::Index>& of_rank) {
      const std::size_t begin = std::min<std::size_t>(first, of_rank.size());
      return std::span(of_rank).subspan(begin, std::min<std::size_t>(step, of_rank.size() - begin));
    };
    Layout layout;
    for (const auto& of_rank : columns) layout.add(std::ssize(part(of_rank)) * matrix.rows());
    send.clear();
    for (const Eigen::Index column : part(columns[here]))
      send.insert(send.end(), matrix.col(column).begin(), matrix.col(column).end());
    layout.exchange(comm, send, received);
    for (std::size_t rank = 0; rank < columns.size(); ++rank) {
      if (rank == here) continue;
      const double* from = received.data() + layout.offsets[rank];
      for (const Eigen::Index column : part(columns[rank])) {
        std::copy_n(from, matrix.rows(), matrix.col(column).data());
        from += matrix.rows();
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
    MPI_Allgather(mine.data(), static_cast<int>(mine.size()), MPI_DOUBLE, all.data(),
                  static_cast<int>(mine.size()), MPI_DOUBLE, comm);
    Eigen::VectorXd sum = all.col(0);
    for (int rank = 1; rank < n_ranks; ++rank) sum += all.col(rank);
    matrix.middleCols(first, mine.cols()) = sum.reshaped(mine.rows(), mine.cols());
  }
}

std::vector<int> deal_rows(MPI_Comm comm, const std::vector<std::uint8_t>& held) {
  const auto n_ranks = static_cast<std::size_t>(size_of(comm)), n_rows = held.size();
  std::vector<std::uint8_t> of_all(n_ranks * n_rows);
  MPI_Allgather(held.data(), static_cast<int>(n_rows), MPI_UINT8_T, of_all.data(), static_cast<int>(n_rows),
                MPI_UINT8_T, comm);
  const auto holds = [&](std::size_t rank, std::size_t row) { return of_all[rank * n_rows + row] != 0; };
  std::vector<int> owner(n_rows, -1);
  std::vector<std::size_t> n_owned(n_ranks, 0);
  const auto deal = [&](std::size_t row) {
    for (std::size_t rank = 0; rank < n_ranks; ++rank) {
      if (holds(rank, row) &&
          (owner[row] < 0 || n_owned[rank] < n_owned[static_cast<std::size_t>(owner[row])]))
        owner[row] = static_cast<int>(rank);
    }
    if (owner[row] >= 0) ++n_owned[static_cast<std::size_t>(owner[row])];
  };
  std::vector<std::size_t> several;  // rows without a choice first, so that the others can level the load
  for (std::size_t row = 0; row < n_rows; ++row) {
    std::size_t n_holders = 0;
    for (std::size_t rank = 0; rank < n_ranks; ++rank) n_holders += holds(rank, row) ? 1 : 0;
    if (n_holders > 1) {
      several.push_back(row);
    } else {
      deal(row);
    }
  }
  std::ranges::for_each(several, deal);
  return owner;
}

std::string broadcast_text(MPI_Comm comm, std::string text, int root) {
  auto length = static_cast<std::int64_t>(text.size());
  MPI_Bcast(&length, 1, MPI_INT64_T, root, comm);
  text.resize(static_cast<std::size_t>(length));
  MPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, root, comm);
  return text;
}

bool any_rank(MPI_Comm comm, bool here) {
  int result = here ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &result, 1, MPI_INT, MPI_LOR, comm);
  return result != 0;
}

void throw_together(MPI_Comm comm, const Worded& failure) {
  int first = failure.empty() ? std::numeric_limits<int>::max() : rank_of(comm);
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm);
  if (first == std::numeric_limits<int>::max()) return;
  const std::string text = broadcast_text(comm, failure.text, first);
  throw SolverError(Worded{text, broadcast_text(comm, failure.place, first)});
}

}  // namespace lodestone::core
