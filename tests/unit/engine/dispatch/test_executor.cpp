// SPDX-License-Identifier: Apache-2.0
// How a recorded graph runs: how often nodes are looked at, and when it runs by itself.
#include "engine/dispatch/executor.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/checkpoint.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <utility>

using namespace lodestone::engine;

namespace {

Tensor one() { return (full({}, 1.0, DType::f64) + 0.0).eval(); }

/// Counts how often traversals come by these nodes while f runs, as their marks tell.
std::int64_t visits_of(const std::vector<NodePtr>& nodes, const std::function<void()>& f) {
  std::vector<std::uint64_t> marks;
  for (const NodePtr& node : nodes) marks.push_back(node->visit);
  std::int64_t n_visits = 0;
  const auto look = [&] {
    for (std::size_t i = 0; i < nodes.size(); ++i)
      n_visits += std::exchange(marks[i], nodes[i]->visit) == nodes[i]->visit ? 0 : 1;
  };
  const ExecutionObserver observer([&](const Node&) { look(); });
  f();
  look();
  return n_visits;
}

}  // namespace

TEST_CASE("executor: two thousand graphs inside nodes, one after another, are ordered once", "[engine]") {
  constexpr int n = 2'000;
  const Function each = checkpoint([](const Tensors& x) -> Tensors { return {-x[0]}; });
  std::vector<NodePtr> nodes;
  Tensor y = one();
  for (int i = 0; i < n; ++i) {
    y = each({y})[0];
    nodes.push_back(y.node_pointer());
    nodes.push_back(y.node().inputs[0]);  // the call, whose element it is
  }
  const std::int64_t n_visits = visits_of(nodes, [&] { y.eval(); });
  INFO(n_visits << " visits of " << nodes.size() << " nodes");
  CHECK(n_visits < 3 * std::ssize(nodes));
  CHECK(n_visits >= std::ssize(nodes));
  CHECK(y.item<double>() == 1.0);
}

TEST_CASE("executor: a graph inside a node may run, and free, nodes that were to come", "[engine]") {
  const Tensor x = one();
  const Tensor shared = exp(x) + 1.0;  // not run yet: the function captures it
  Tensor inside = checkpoint([&](const Tensors& in) -> Tensors { return {in[0] * shared}; })({x})[0];
  Tensor both = inside + square(shared);
  inside = Tensor();
  CHECK(both.item<double>() == Approx((std::exp(1.0) + 1.0) * (std::exp(1.0) + 2.0)));
}

TEST_CASE("executor: recorded ops run by themselves when there are many", "[engine]") {
  const Tensor x = one();
  x.eval();
  Tensor y = negative(x).eval();  // nothing is pending now
  const Tensor first = y = negative(y);
  for (int i = 2; i < most_pending; ++i) y = negative(y);
  CHECK_FALSE(first.node().is_evaluated());
  y = negative(y);
  CHECK(first.node().is_evaluated());
  CHECK(y.node().is_evaluated());
}

TEST_CASE("executor: ops whose graph is kept do not run by themselves, those recorded after it do",
          "[engine]") {
  Tensor first, last;
  const Linearized linearized = linearize(
      [&](const Tensors& x) -> Tensors {
        first = last = negative(x[0]);
        for (int i = 0; i < 2 * most_pending; ++i) last = negative(last);
        CHECK_FALSE(first.node().is_evaluated());
        return {last};
      },
      {one()});
  CHECK_FALSE(first.node().is_evaluated());
  const Tensor next = negative(last);
  CHECK(first.node().is_evaluated());
  CHECK(next.node().is_evaluated());
  CHECK(linearized.vjp({one()})[0].item<double>() == -1.0);
}
