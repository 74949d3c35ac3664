// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

#include <mpi.h>
#include <string>
#include <vector>

namespace lodestone::core {

[[nodiscard]] int rank_of(MPI_Comm comm);
[[nodiscard]] int size_of(MPI_Comm comm);

/// Every row of `matrix` is owned by one rank (`owner[row]`); afterwards all ranks hold all rows, bitwise the owner's. collective.
void share_rows(MPI_Comm comm, const std::vector<int>& owner, Eigen::MatrixXd& matrix);
/// Sum over ranks, added in rank order on every rank, so that the result does not depend on the reduction tree. collective.
void sum_in_rank_order(MPI_Comm comm, Eigen::Ref<Eigen::MatrixXd> matrix);
/// Rank 0's text everywhere. collective.
[[nodiscard]] std::string broadcast_text(MPI_Comm comm, std::string text);
/// True everywhere if true on any rank (stop requests, failures). collective.
[[nodiscard]] bool any_rank(MPI_Comm comm, bool here);
/// If `message` (an error's whole text) is not empty on any rank, throws SolverError with the first such message on every rank. collective.
void throw_together(MPI_Comm comm, const std::string& message);

}  // namespace lodestone::core
