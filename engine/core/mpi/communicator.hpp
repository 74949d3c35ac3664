// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/error.hpp"

#include <Eigen/Core>
#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lodestone::core {

/// Returns rank and size of `comm`; those of MPI_COMM_SELF, 0 and 1, are known before MPI is started too.
[[nodiscard]] int rank_of(MPI_Comm comm);
[[nodiscard]] int size_of(MPI_Comm comm);

/// Shares rows. Every row of `matrix` is owned by one rank (`owner[row]`); afterwards all ranks hold all
/// rows, bitwise the owner's. collective.
void share_rows(MPI_Comm comm, const std::vector<int>& owner, Eigen::MatrixXd& matrix);
/// Every column of `matrix` is owned by one rank (`owner[column]`); afterwards all ranks hold all columns,
/// bitwise the owner's. collective.
void share_columns(MPI_Comm comm, const std::vector<int>& owner, Eigen::Ref<Eigen::MatrixXd> matrix);
/// Sums over ranks, in rank order on every rank, so that the result does not depend on the reduction tree.
/// collective.
void sum_in_rank_order(MPI_Comm comm, Eigen::Ref<Eigen::MatrixXd> matrix);
/// Returns for each row the rank that shall work on it: of the ranks that hold it the one with the fewest
/// rows so far, −1 if no rank holds it. `held`: one entry per row, nonzero if this rank holds it. collective.
[[nodiscard]] std::vector<int> deal_rows(MPI_Comm comm, const std::vector<std::uint8_t>& held);
/// Returns the text of rank `root` on every rank. collective.
[[nodiscard]] std::string broadcast_text(MPI_Comm comm, std::string text, int root = 0);
/// Returns true on every rank if `here` is true on any rank (stop requests, failures). collective.
[[nodiscard]] bool any_rank(MPI_Comm comm, bool here);
/// If `failure` is not empty on any rank, throws SolverError with text and place of the first such failure on
/// every rank. collective.
void throw_together(MPI_Comm comm, const Worded& failure);

}  // namespace lodestone::core
