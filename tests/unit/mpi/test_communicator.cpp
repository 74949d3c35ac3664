// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/mpi/communicator.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "engine/core/mpi/waiting.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <thread>

using namespace lodestone::core;
using lodestone::tests::error_of;
using lodestone::tests::HasId;

namespace {

const MPI_Comm world = MPI_COMM_WORLD;

const auto entry = [](Eigen::Index row, Eigen::Index col) {
  return std::sin(static_cast<double>(7 * row + col));
};

}  // namespace

TEST_CASE("share_rows: every rank ends with the owner's bits", "[mpi]") {
  const Eigen::Index n_rows = 7, n_cols = 3;
  std::vector<int> owner;
  for (Eigen::Index row = 0; row < n_rows; ++row) owner.push_back(static_cast<int>(row * 5 % size_of(world)));
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Constant(n_rows, n_cols, -1.0 - rank_of(world));
  for (Eigen::Index row = 0; row < n_rows; ++row) {
    if (owner[static_cast<std::size_t>(row)] != rank_of(world)) continue;
    for (Eigen::Index col = 0; col < n_cols; ++col) matrix(row, col) = entry(row, col);
  }
  share_rows(world, owner, matrix);
  CHECK(matrix == Eigen::MatrixXd::NullaryExpr(n_rows, n_cols, entry));
}

TEST_CASE("share_rows: ranks without rows take part", "[mpi]") {
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Constant(4, 2, rank_of(world) == 0 ? 3.0 : 0.0);
  share_rows(world, {0, 0, 0, 0}, matrix);
  CHECK(matrix == Eigen::MatrixXd::Constant(4, 2, 3.0));
}

TEST_CASE("share_rows: matrices larger than one message arrive whole", "[mpi]") {
  const Eigen::Index n_rows = 3000, n_cols = 3001;  // more than the 2^22 entries sent at once
  std::vector<int> owner(static_cast<std::size_t>(n_rows));
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(n_rows, n_cols);
  for (Eigen::Index row = 0; row < n_rows; ++row) {
    owner[static_cast<std::size_t>(row)] = static_cast<int>(row % size_of(world));
    if (row % size_of(world) == rank_of(world)) matrix.row(row).setConstant(static_cast<double>(row));
  }
  share_rows(world, owner, matrix);
  const Eigen::VectorXd expected = Eigen::VectorXd::LinSpaced(n_rows, 0.0, static_cast<double>(n_rows - 1));
  CHECK(matrix.col(0) == expected);
  CHECK(matrix.col(n_cols - 1) == expected);
}

TEST_CASE("share_rows: wrong owners are refused on every rank before anything is sent", "[mpi]") {
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(2, 2);
  CHECK_THAT(error_of<ShapeError>([&] { share_rows(world, {0}, matrix); }),
             HasId("wrong_size", {"[core::share_rows]", "2", "1"}));
  CHECK_THROWS_AS(share_rows(world, {0, size_of(world)}, matrix), InvalidArgument);
}

TEST_CASE("share_columns: every rank ends with the owner's bits, also where ranks own none or unequally many",
          "[mpi]") {
  const Eigen::Index n_rows = 40000, n_cols = 11;  // three columns in one message, so several rounds
  const auto shared = [&](const std::vector<int>& owner) {
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Constant(n_rows, n_cols, -1.0 - rank_of(world));
    for (Eigen::Index col = 0; col < n_cols; ++col) {
      if (owner[static_cast<std::size_t>(col)] != rank_of(world)) continue;
      for (Eigen::Index row = 0; row < n_rows; ++row) matrix(row, col) = entry(row, col);
    }
    share_columns(world, owner, matrix);
    return matrix;
  };
  const Eigen::MatrixXd expected = Eigen::MatrixXd::NullaryExpr(n_rows, n_cols, entry);
  std::vector<int> unequal;
  for (Eigen::Index col = 0; col < n_cols; ++col) unequal.push_back(col % 4 == 0 ? size_of(world) - 1 : 0);
  CHECK(shared(unequal) == expected);
  CHECK(shared(std::vector<int>(static_cast<std::size_t>(n_cols), 0)) == expected);
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(2, 2);
  CHECK_THAT(error_of<ShapeError>([&] { share_columns(world, {0}, matrix); }),
             HasId("wrong_size", {"[core::share_columns]", "2", "1"}));
}

TEST_CASE("deal_rows: rows go to a rank that holds them, those of several level the load", "[mpi]") {
  const int n_ranks = size_of(world), last = n_ranks - 1;
  // Two rows of the last rank alone, two of nobody, and two per rank that all hold.
  std::vector<std::uint8_t> held{rank_of(world) == last, rank_of(world) == last, 0, 0};
  held.resize(4 + 2 * static_cast<std::size_t>(n_ranks), 1);
  const auto owner = deal_rows(world, held);
  REQUIRE(owner.size() == held.size());
  CHECK(owner[0] == last);
  CHECK(owner[1] == last);
  CHECK(owner[2] == -1);
  CHECK(owner[3] == -1);
  std::vector<int> n_owned(static_cast<std::size_t>(n_ranks), 0);
  for (const int rank : owner) {
    if (rank >= 0) ++n_owned[static_cast<std::size_t>(rank)];
  }
  CHECK(*std::ranges::max_element(n_owned) - *std::ranges::min_element(n_owned) <= 1);
}

TEST_CASE("sum_in_rank_order: is the sum from rank 0 upwards, bit by bit", "[mpi]") {
  // Terms whose floating-point sum depends on the order.
  const auto term = [](int rank) { return rank == 0 ? 1e16 : rank == 1 ? 1.0 : -1e16; };
  double expected = term(0);
  for (int rank = 1; rank < size_of(world); ++rank) expected += term(rank);
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Constant(3, 2, term(rank_of(world)));
  sum_in_rank_order(world, matrix);
  CHECK(matrix == Eigen::MatrixXd::Constant(3, 2, expected));
}

TEST_CASE("sum_in_rank_order: works on a block of a larger matrix and leaves the rest", "[mpi]") {
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Ones(4, 4);
  sum_in_rank_order(world, matrix.block(1, 1, 2, 2));
  CHECK(matrix.sum() == 12.0 + 4.0 * size_of(world));
}

TEST_CASE("broadcast_text: rank 0's text is everywhere, also when empty", "[mpi]") {
  CHECK(broadcast_text(world, rank_of(world) == 0 ? "from rank 0" : "something else and longer") ==
        "from rank 0");
  CHECK(broadcast_text(world, rank_of(world) == 0 ? "" : "x").empty());
}

TEST_CASE("any_rank: one rank is enough", "[mpi]") {
  CHECK(any_rank(world, rank_of(world) == size_of(world) - 1));
  CHECK_FALSE(any_rank(world, false));
}

TEST_CASE("throw_together: the first failure is thrown on every rank, with its component and id", "[mpi]") {
  CHECK_NOTHROW(throw_together(world, {}));
  const int last = size_of(world) - 1;
  const Worded here = rank_of(world) == last
                          ? worded(SolverError("mt::Simulation#singular", "singular at {} Hz", 0.1))
                          : Worded{};
  const Error error = error_of<SolverError>([&] { throw_together(world, here); });
  CHECK(error.what() == std::string("[mt::Simulation] singular at 0.1 Hz"));
  CHECK(error.place() == "mt::Simulation#singular");
}

namespace {

/// Returns the processor time of all threads of this process in seconds.
double processor_s() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void sleep_ms(int n) { std::this_thread::sleep_for(std::chrono::milliseconds(n)); }

}  // namespace

TEST_CASE(
    "on_rank_zero: ranks that wait for a long action leave their cores to others, and its error reaches them "
    "all the same",
    "[mpi]") {
  MPI_Barrier(world);
  const double before_s = processor_s();
  const Error error = error_of<Error>([] {
    on_rank_zero(world, [] {
      sleep_ms(300);
      throw FileError("io#disk_full", "the disk is full");
    });
  });
  CHECK(std::string(error.what()) == "[io] the disk is full");
  CHECK(error.place() == "io#disk_full");
  CHECK(processor_s() - before_s < 0.1);
}

TEST_CASE("meet_with_pauses: nobody goes on before the last has come, nor spins until then", "[mpi]") {
  MPI_Barrier(world);
  const double before_s = processor_s();
  const auto start = std::chrono::steady_clock::now();
  if (rank_of(world) == size_of(world) - 1) sleep_ms(200);
  meet_with_pauses(world);
  CHECK(std::chrono::steady_clock::now() - start > std::chrono::milliseconds(190));
  CHECK(processor_s() - before_s < 0.07);
}

TEST_CASE("on_rank_zero: one rank acts, and its error with its exit code is thrown on every rank", "[mpi]") {
  int n_calls = 0;
  on_rank_zero(world, [&] { ++n_calls; });
  CHECK(n_calls == (rank_of(world) == 0 ? 1 : 0));
  try {
    on_rank_zero(world, [] { throw FileError("io", "the disk is full"); });
    FAIL("expected an error");
  } catch (const Error& error) {
    CHECK(std::string(error.what()) == "[io] the disk is full");
    CHECK(error.exit_code() == ExitCode::file);
  }
}

TEST_CASE("on_first_ranks: those ranks act, and the error of the first that fails is thrown on every rank",
          "[mpi]") {
  const int n = std::min(size_of(world), 2);
  int n_calls = 0;
  on_first_ranks(world, n, [&] { ++n_calls; });
  CHECK(n_calls == (rank_of(world) < n ? 1 : 0));
  const Error error = error_of<Error>([&] {
    on_first_ranks(world, n, [&] {
      if (rank_of(world) == n - 1) throw FileError("io#disk_full", "the disk is full");
    });
  });
  CHECK(std::string(error.what()) == "[io] the disk is full");
  CHECK(error.place() == "io#disk_full");
  CHECK(error.exit_code() == ExitCode::file);
}
