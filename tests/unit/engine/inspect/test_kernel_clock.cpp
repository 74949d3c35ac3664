// SPDX-License-Identifier: Apache-2.0
#include "engine/core/parallel.hpp"
#include "engine/inspect/kernel_clock.hpp"
#include "engine/ops/ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/thread_count.hpp"
#include "tests/unit/engine/compile/plan_of.hpp"

#include <thread>

using namespace lodestone;
using namespace lodestone::engine;

namespace {

/// Counts calls of a kernel, and those while threads looked out for work.
struct Calls {
  static inline int all = 0, close = 0;
  static void of_kernel(const KernelCall&) {
    ++all;
    close += core::CloseLoops::pay() ? 1 : 0;
  }
};

/// Returns a plan of one launch on two arrays of 256 bytes.
std::unique_ptr<Plan> plan_of_launch() {
  const Tensor x = Tensor::from(std::vector<float>(64, 1.0F), {64});
  auto plan = tests::plan_of([](const Tensors& in) -> Tensors { return {-in[0]}; }, {x});
  REQUIRE(plan->lowered().launches.size() == 1);
  return plan;
}

}  // namespace

TEST_CASE("kernel clock: a kernel finds awake threads, as while a plan runs", "[engine]") {
  using namespace std::chrono_literals;
  if (std::thread::hardware_concurrency() < 2) return;  // threads sleep there
  const tests::ThreadCount two(2);
  std::this_thread::sleep_for(150ms);  // threads that came late before are forgotten
  const auto plan = plan_of_launch();
  Launch launch = plan->lowered().launches[0];
  launch.run = Calls::of_kernel;
  Calls::all = Calls::close = 0;
  CHECK(KernelClock(1024).seconds(plan->lowered(), launch));
  CHECK(Calls::all > 3);
  CHECK(Calls::close == Calls::all);
  CHECK_FALSE(core::CloseLoops::pay());
}

TEST_CASE("kernel clock: each kind of launch is timed once, and large ones never", "[engine]") {
  const auto plan = plan_of_launch();
  Launch launch = plan->lowered().launches[0];
  launch.run = Calls::of_kernel;
  Calls::all = 0;
  KernelClock enough(512), too_little(511);
  const auto seconds = enough.seconds(plan->lowered(), launch);
  REQUIRE(seconds);
  const int n_calls = Calls::all;
  CHECK(enough.seconds(plan->lowered(), launch) == seconds);
  CHECK_FALSE(too_little.seconds(plan->lowered(), launch));
  CHECK(Calls::all == n_calls);
}
