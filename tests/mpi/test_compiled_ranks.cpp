// SPDX-License-Identifier: Apache-2.0
// Collective maps in compiled functions: every rank calls them in the order of the function, whatever one
// rank does besides.
#include "engine/compile/compile.hpp"
#include "engine/core/map_algebra.hpp"
#include "engine/core/mpi/communicator.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/variable.hpp"
#include "engine/transform/external.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/engine/same_bits.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace lodestone;
using namespace lodestone::engine;

namespace {

const MPI_Comm world = MPI_COMM_WORLD;
constexpr Eigen::Index n = 4;

/// The calls of maps on this rank, and how many of them met another map on another rank.
struct Calls {
  std::vector<int> order;
  int n_mixed = 0;

  /// Meets the other ranks in a call of a map.
  void meet(int map) {
    std::array<int, 2> least_and_most{map, -map};
    MPI_Allreduce(MPI_IN_PLACE, least_and_most.data(), 2, MPI_INT, MPI_MIN, world);
    n_mixed += least_and_most[0] == -least_and_most[1] ? 0 : 1;
    order.push_back(map);
  }
};

/// x + its number, plus the mean of all ranks' first elements; each value and each product is collective.
class CollectiveMap final : public core::DifferentiableMap {
 public:
  CollectiveMap(int number, Calls& calls) : number_(number), calls_(calls) {}
  [[nodiscard]] Eigen::Index size_in() const override { return n; }
  [[nodiscard]] Eigen::Index size_out() const override { return n; }
  [[nodiscard]] std::string name() const override { return fmt::format("map {}", number_); }
  [[nodiscard]] int communicator_id() const override { return 1; }

 private:
  class Derivative final : public core::Linearization {
   public:
    Derivative(Eigen::VectorXd value, int number, Calls& calls)
        : Linearization(n, std::move(value)), number_(number), calls_(calls) {}

   private:
    [[nodiscard]] Eigen::MatrixXd met(const core::ConstMatrixRef& directions) const {
      calls_.meet(10 + number_);
      return directions;
    }
    Eigen::MatrixXd do_jvp(const core::ConstMatrixRef& directions) const override { return met(directions); }
    Eigen::MatrixXd do_vjp(const core::ConstMatrixRef& directions) const override { return met(directions); }
    int number_;
    Calls& calls_;
  };

  [[nodiscard]] std::unique_ptr<core::Linearization> do_linearize(
      const core::ConstVectorRef& x) const override {
    calls_.meet(number_);
    return std::make_unique<Derivative>(x.array() + number_, number_, calls_);
  }
  int number_;
  Calls& calls_;
};

/// Three maps, of which nobody uses what the second gives, and what rank 0 writes down.
struct Maps {
  Calls calls;
  std::vector<core::MapPtr> all;
  std::string written;

  Maps() {
    for (int i = 1; i <= 3; ++i) all.push_back(std::make_shared<CollectiveMap>(i, calls));
  }
  [[nodiscard]] Tensor value(std::size_t map, const Tensor& x) const { return external(all[map], x); }
  void write_on_rank_0(const Tensor& x) {
    if (core::rank_of(world) == 0) written += fmt::format("{:g} ", sum(x).item<double>());
  }
};

Tensor start() { return Tensor::from(std::vector<double>{1, 2, 3, 4}, {n}); }

/// Returns the order of one call, so many times.
std::vector<int> times(int n_times, const std::vector<int>& order) {
  std::vector<int> result;
  for (int i = 0; i < n_times; ++i) result.insert(result.end(), order.begin(), order.end());
  return result;
}

}  // namespace

TEST_CASE("compiled ranks: maps keep their order on every rank while rank 0 alone prints results",
          "[engine][mpi]") {
  Maps maps;
  const Variable cell("cell", start(), Variable::Role::state);
  const Compiled f = compile([&](const Tensors& in) -> Tensors {
    const Tensor first = maps.value(0, in[0] * 2.0);
    static_cast<void>(maps.value(1, first + cell.value()));
    cell.assign(cell.value() + first);
    return {maps.value(2, in[0] + first)};
  });
  for (int i = 0; i < 3; ++i) {
    const Tensor y = f({start()})[0];
    maps.write_on_rank_0(y);
    maps.write_on_rank_0(cell.value());
    CHECK(y.to_vector<double>() == std::vector<double>{7, 10, 13, 16});
  }
  CHECK(maps.calls.order == times(3, {1, 2, 3}));
  CHECK(maps.calls.n_mixed == 0);
  CHECK(f.stats().n_traces == 1);
  CHECK(f.stats().breaks.empty());
  CHECK(maps.written == (core::rank_of(world) == 0 ? "46 34 46 58 46 82 " : ""));
}

TEST_CASE("compiled ranks: maps keep their order where rank 0 alone reads values inside of the function",
          "[engine][mpi]") {
  Maps maps;
  const Compiled f = compile([&](const Tensors& in) -> Tensors {
    const Tensor first = maps.value(0, in[0]);
    maps.write_on_rank_0(first);  // there the function runs op by op, elsewhere as a plan
    static_cast<void>(maps.value(1, first * 3.0));
    const Tensor last = maps.value(2, first);
    maps.write_on_rank_0(last);
    return {last};
  });
  for (int i = 0; i < 3; ++i) CHECK(f({start()})[0].to_vector<double>() == std::vector<double>{5, 6, 7, 8});
  const bool is_first = core::rank_of(world) == 0;
  CHECK(maps.calls.order == times(3, {1, 2, 3}));
  CHECK(maps.calls.n_mixed == 0);
  CHECK(f.stats().breaks.empty() != is_first);
  CHECK(maps.written == (is_first ? "14 26 14 26 14 26 " : ""));
}

TEST_CASE("compiled ranks: gradients through maps meet on all ranks in one order, on every level",
          "[engine][mpi]") {
  for (const Level level : {Level::O0, Level::O1}) {
    Maps maps;
    const Function f = [&](const Tensors& in) -> Tensors {
      const auto loss = [&](const Tensors& x) -> Tensors {
        const Tensor y = maps.value(1, exp(maps.value(0, x[0] * 0.5) * 0.1));
        return {sum(y * maps.value(2, x[0]))};
      };
      const auto [value, gradients] = value_and_grad(loss, in);
      return {value, gradients[0]};
    };
    const Tensors right = f({start()});
    eval(right);
    const std::vector<int> of_one = maps.calls.order;
    const Compiled compiled = compile(f, {.level = level});
    for (int i = 0; i < 2; ++i) {
      const Tensors y = compiled({start()});
      maps.write_on_rank_0(y[1]);
      CHECK(tests::same_bits(y, right));
    }
    CHECK(of_one.size() == 6);
    CHECK(maps.calls.order == times(3, of_one));
    CHECK(maps.calls.n_mixed == 0);
  }
}
