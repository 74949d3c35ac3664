// SPDX-License-Identifier: Apache-2.0
#include "engine/core/map_algebra.hpp"
#include "engine/core/timeline.hpp"
#include "engine/memory/arena.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/checkpoint.hpp"
#include "engine/transform/external.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/engine/compile/plan_of.hpp"

#include <algorithm>
#include <map>

using namespace lodestone::engine;
using lodestone::core::Timeline;
using lodestone::tests::plan_of;

namespace {

using What = Timeline::Kind;

/// Returns the events that f leaves, by kind.
std::map<What, std::vector<Timeline::Event>> events_of(const std::function<void()>& f) {
  Timeline::clear();
  Timeline::record(true);
  f();
  Timeline::record(false);
  std::map<What, std::vector<Timeline::Event>> result;
  for (const Timeline::Thread& thread : Timeline::events()) {
    for (const Timeline::Event& each : thread.events) result[each.kind].push_back(each);
  }
  Timeline::clear();
  return result;
}

Tensors loss(const Tensors& in) { return {sum(exp(matmul(in[0], in[1])) + 1.0)}; }

Tensors arguments() { return {(ones({8, 4}) * 0.1).eval(), (ones({4, 6}) * 0.1).eval()}; }

}  // namespace

TEST_CASE("events: each launch of a plan is one, with its op, line, position and bytes") {
  const Tensors in = arguments();
  const auto plan = plan_of(loss, in);
  const auto events = events_of([&] { static_cast<void>(plan->run(in)); });
  const auto& launches = events.at(What::launch);
  REQUIRE(std::ssize(launches) == plan->n_launches());
  CHECK_THAT(*launches[0].name, Catch::StartsWith("dot_general (test_events.cpp:"));
  CHECK(launches[0].second == 4 * (8 * 4 + 4 * 6 + 8 * 6));
  for (std::size_t i = 0; i < launches.size(); ++i) {
    CHECK(launches[i].first == static_cast<std::int64_t>(i));
    CHECK(launches[i].begin <= launches[i].end);
    if (i > 0) CHECK(launches[i].begin == launches[i - 1].end);
  }
}

TEST_CASE("events: ops that run one by one and functions of plans are some, views are none") {
  const Tensors in = arguments();
  const auto eager = events_of([&] { sum(transpose(exp(in[0]))).eval(); });
  REQUIRE(eager.at(What::op).size() == 2);
  CHECK(*eager.at(What::op)[0].name == "exp");
  CHECK(eager.at(What::op)[0].first == 4 * 8 * 4);

  const lodestone::core::MapPtr map = lodestone::core::pointwise(
      "twice", 2, [](double t) { return 2.0 * t; }, [](double) { return 2.0; });
  const Tensors two{(ones({2}, DType::f64) * 3.0).eval()};
  const auto plan = plan_of([&](const Tensors& x) -> Tensors { return {sum(external(map, x[0]))}; }, two);
  const auto events = events_of([&] { static_cast<void>(plan->run(two)); });
  REQUIRE(events.at(What::function).size() == 1);
  CHECK(*events.at(What::function)[0].name == "external_call");

  const Function twice_exp = checkpoint([](const Tensors& x) -> Tensors { return {exp(exp(x[0]))}; });
  const auto with_call =
      plan_of([&](const Tensors& x) -> Tensors { return {sum(twice_exp({x[0]})[0])}; }, in);
  const auto launches = events_of([&] { static_cast<void>(with_call->run(in)); });
  CHECK(launches.at(What::launch)[0].name->starts_with("call (test_events.cpp:"));
}

TEST_CASE("events: passes of the compiler say how many instructions they leave") {
  const Tensors in = arguments();
  const auto events = events_of([&] { static_cast<void>(plan_of(loss, in, Level::O1)); });
  const auto& passes = events.at(What::pass);
  REQUIRE(passes.size() >= 2);
  CHECK(*passes[0].name == "rewriting");
  CHECK(passes.back().second < passes[0].first);
}

TEST_CASE("events: memory in use is a curve that has its peak") {
  Arena& arena = Arena::of(default_device());
  arena.reset_peak();
  const auto events = events_of([&] {
    const Tensor large = (ones({1 << 20}) * 2.0).eval();
    static_cast<void>(large);
  });
  const auto& curve = events.at(What::memory);
  const auto top = std::ranges::max_element(curve, {}, &Timeline::Event::first);
  CHECK(top->first > static_cast<std::int64_t>(arena.stats().peak) * 63 / 64);
  CHECK(curve.back().first < top->first - (1 << 22) / 2);
}
