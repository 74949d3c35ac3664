// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/error.hpp"

#include <Eigen/Core>
#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lodestone::core {

/// The ranks that share one inversion; a process that never started MPI is a team of one. Internal to this
/// layer.
///
/// collective: every member.
class Team {
 public:
  explicit Team(MPI_Comm comm);
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  /// Brings the values of `root` to every rank.
  void broadcast(Eigen::Ref<Eigen::MatrixXd> values, int root = 0) const;
  /// Brings the values of `owner` to rank 0; other ranks keep theirs.
  void to_root(Eigen::MatrixXd& values, int owner) const;
  /// Brings every column of its owner to every rank.
  void share_columns(const std::vector<int>& owner, Eigen::Ref<Eigen::MatrixXd> values) const;
  /// Returns what core::deal_rows returns.
  [[nodiscard]] std::vector<int> deal_rows(const std::vector<std::uint8_t>& held) const;
  /// Does what core::throw_together does.
  void throw_together(const Worded& failure) const;
  /// Returns the number of its ranks that share this machine's memory.
  [[nodiscard]] int on_machine() const;
  [[nodiscard]] int max(int here) const;
  [[nodiscard]] bool any(bool here) const { return max(here ? 1 : 0) != 0; }

 private:
  MPI_Comm comm_;
  int rank_ = 0, size_ = 1;
};

}  // namespace lodestone::core
