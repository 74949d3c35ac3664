// SPDX-License-Identifier: Apache-2.0
// Predicted times of schedules against what theory says: idle shares and kept leaves.
#include "engine/dist/pipeline/check.hpp"
#include "engine/dist/pipeline/timeline.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <algorithm>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;

namespace {

struct Case {
  int p = 0, m = 0;
};

/// Returns numbers of ranks and leaves.
std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const int p : {4, 8, 16}) {
    for (const int times : {1, 2, 4, 8}) cases.push_back({p, p * times});
  }
  return cases;
}

PipelineTimeline equal_timeline(const PipelineSchedule& schedule, double backward_s = 1.0,
                                double weights_s = 1.0) {
  return timeline_of(schedule, equal_costs(schedule, 1.0, backward_s, weights_s));
}

double worst_within(const PipelineTimeline& timeline) {
  return *std::ranges::max_element(timeline.idle_within);
}

}  // namespace

TEST_CASE("timeline: GPipe and 1F1B idle (p - 1) / (m + p - 1) of the step", "[engine]") {
  for (const auto& [p, m] : all_cases()) {
    const double expected = (p - 1.0) / (m + p - 1.0);
    INFO(p << " ranks, " << m << " leaves");
    for (const PipelineSchedule& schedule : {gpipe(p, m), one_f_one_b(p, m), interleaved(p, m, 1)}) {
      const PipelineTimeline timeline = equal_timeline(schedule);
      CHECK(timeline.idle == Approx(expected).epsilon(1e-12));
      CHECK(timeline.end_s == Approx(3.0 * (m + p - 1)));
    }
  }
}

TEST_CASE("timeline: interleaved schedules idle (p - 1) / (v m + p - 1)", "[engine]") {
  for (const auto& [p, m] : all_cases()) {
    for (const int v : {2, 3, 4}) {
      INFO(p << " ranks, " << m << " leaves, " << v << " chunks per rank");
      CHECK(equal_timeline(interleaved(p, m, v)).idle ==
            Approx((p - 1.0) / (v * m + p - 1.0)).epsilon(1e-12));
    }
  }
}

TEST_CASE("timeline: 1F1B keeps min(p, m) leaves, GPipe all, the V 2 p half stages", "[engine]") {
  for (const int p : {4, 8, 16}) {
    for (const int m : {1, p - 1, p, p + 1, 3 * p}) {
      INFO(p << " ranks, " << m << " leaves");
      const auto kept = check_schedule(one_f_one_b(p, m)).kept, all = check_schedule(gpipe(p, m)).kept,
                 of_v = check_schedule(zero_bubble_v(p, m)).kept;
      for (int rank = 0; rank < p; ++rank) {
        const auto i = static_cast<std::size_t>(rank);
        CHECK(kept[i] == KeptLeaves{std::min(p - rank, m), 0, std::min(p - rank, m)});
        CHECK(all[i].all == m);
        CHECK(of_v[i].all <= 2 * std::min(p, m));
        if (m >= 2 * p - 1) CHECK(of_v[i].all == 2 * p);
        CHECK(of_v[i].for_weights <= 2 * rank + 1);
      }
    }
  }
}

TEST_CASE("timeline: ranks of the V do not idle between their first and last pass", "[engine]") {
  for (const int p : {4, 8, 16}) {
    for (const int m : {2 * p - 1, 2 * p, 2 * p + 3, 4 * p, 8 * p}) {
      const PipelineTimeline timeline = equal_timeline(zero_bubble_v(p, m));
      const double x = (p - 1) / 2.0;
      INFO(p << " ranks, " << m << " leaves");
      CHECK(worst_within(timeline) < 1e-12);
      CHECK(timeline.idle == Approx(x / (3 * m + x)).epsilon(1e-12));
    }
  }
  CHECK(equal_timeline(zero_bubble_v(4, 8)).idle == Approx(0.0588).margin(1e-4));
  CHECK(equal_timeline(one_f_one_b(4, 8)).idle == Approx(0.2727).margin(1e-4));
  CHECK(worst_within(equal_timeline(zero_bubble_v(4, 8), 1.2, 0.8)) == Approx(0.0476).margin(1e-4));
}

TEST_CASE("timeline: items of a small schedule begin and end as by hand", "[engine]") {
  PipelineCosts costs = equal_costs(one_f_one_b(2, 1), 1.0, 2.0, 0.5);
  costs.bytes = [](const PipelineItem& item) { return item.pass == PipelinePass::forward ? 10.0 : 20.0; };
  costs.links = [](int, int) { return LinkSpeed{0.25, 20.0}; };
  const PipelineTimeline timeline = timeline_of(one_f_one_b(2, 1), costs);
  // rank 0: F0 >F0 <B1 BW0; rank 1: <F0 F1 BW1 >B1
  CHECK(timeline.items[0] == std::vector<ItemTimes>{{0, 1}, {1, 1}, {1, 6.5}, {6.5, 9}});
  CHECK(timeline.items[1] == std::vector<ItemTimes>{{0, 1.75}, {1.75, 2.75}, {2.75, 5.25}, {5.25, 5.25}});
  CHECK(timeline.end_s == 9.0);
  CHECK(timeline.idle == Approx(1.0 - 7.0 / 18.0));
  CHECK(timeline.idle_within[0] == Approx(5.5 / 9.0));
  CHECK(timeline.idle_within[1] == 0.0);
  PipelineSchedule broken = one_f_one_b(2, 1);
  broken.ranks[1].items.pop_back();
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)timeline_of(broken, costs); }), HasId("faults"));
}
