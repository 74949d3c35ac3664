// SPDX-License-Identifier: Apache-2.0
// Ranks with clocks: times of messages by hand, and the predicted times of schedules against those of clocks.
#include "engine/dist/collectives/collectives.hpp"
#include "engine/dist/pipeline/check.hpp"
#include "engine/dist/pipeline/follow.hpp"
#include "engine/dist/pipeline/timeline.hpp"
#include "engine/dist/transport/local.hpp"
#include "engine/dist/transport/sim.hpp"
#include "engine/ops/ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/dist/all_schedules.hpp"
#include "tests/unit/engine/dist/elements.hpp"

#include <array>
#include <atomic>
#include <random>

using namespace lodestone;
using namespace lodestone::engine;
using tests::elements;
using tests::error_of;
using tests::HasId;

namespace {

Links equal_links(double alpha_s, double bytes_per_s) {
  return [=](int, int) { return LinkSpeed{alpha_s, bytes_per_s}; };
}

/// Costs that differ from item to item, the same whenever they are asked for.
double cost_of(const PipelineItem& item, unsigned seed) {
  std::mt19937 engine(seed + static_cast<unsigned>(item.pass) * 7 + static_cast<unsigned>(item.chunk) * 101 +
                      static_cast<unsigned>(item.leaf) * 10007);
  return std::uniform_real_distribution<double>(0.5, 1.5)(engine);
}

/// Follows a schedule with clocks and messages without meaning. Returns the times of each item.
std::vector<std::vector<ItemTimes>> simulated(const PipelineSchedule& schedule, const PipelineCosts& costs,
                                              int n_buffers) {
  std::vector<std::vector<ItemTimes>> times(schedule.ranks.size());
  run_simulated_ranks(static_cast<int>(times.size()), costs.links, [&](const SimWorld& world) {
    std::vector<ItemTimes>& own = times[static_cast<std::size_t>(world->rank())];
    std::vector<double> buffer(64);
    double before = 0.0;
    const auto note = [&](const PipelineItem&) {
      own.push_back({before, world->now_s()});
      before = world->now_s();
    };
    const auto array = [&](const PipelineItem& item) {
      Strided all = elements(buffer);
      all.shape[0] = static_cast<Dim>(costs.bytes(item)) / 8;
      return std::vector<Strided>{all};
    };
    PipelineSteps steps;
    steps.compute = [&](const PipelineItem& item) {
      world->advance(costs.compute_s(item));
      note(item);
    };
    steps.outgoing = [&](const PipelineItem& item) {
      note(item);
      return array(item);
    };
    steps.incoming = array;
    steps.received = note;
    follow(*world, schedule, steps, 3, n_buffers);
  });
  return times;
}

}  // namespace

TEST_CASE("sim: messages take their time, one after the other on a link", "[engine]") {
  // 0.5 s + 8 bytes per element at 16 bytes/s; the link from rank 1 back is faster.
  const Links links = [](int from, int) { return LinkSpeed{0.5, from == 0 ? 16.0 : 1e30}; };
  std::array<std::vector<double>, 2> clocks;
  const std::vector<SimRank> ends = run_simulated_ranks(2, links, [&](const SimWorld& world) {
    std::vector<double>& own = clocks[static_cast<std::size_t>(world->rank())];
    std::vector<double> mine{1, 2, 3, 4}, theirs(4);
    const Message to{1 - world->rank(), elements(mine)}, from{1 - world->rank(), elements(theirs)};
    const auto note = [&] { own.push_back(world->now_s()); };
    if (world->rank() == 0) {
      world->advance(1.0);
      const auto first = world->start({&to, 1}, {}, 0), second = world->start({&to, 1}, {}, 0);
      note();  // sending takes no time
      world->wait(first);
      world->wait(second);
      note();
      world->exchange({}, {&from, 1}, 1);
      note();
    } else {
      world->exchange({}, {&from, 1}, 0);
      note();  // 1 + 0.5 + 2
      world->advance(10.0);
      world->exchange({}, {&from, 1}, 0);
      note();  // 6 came before
      world->exchange({&to, 1}, {}, 1);
      note();
      if (theirs != mine) throw core::InvalidArgument("test#elements", "others than sent");
    }
  });
  CHECK(clocks[0] == std::vector<double>{1.0, 1.0, 14.0});
  CHECK(clocks[1] == std::vector<double>{3.5, 13.5, 13.5});
  CHECK(ends[0].end_s == 14.0);
  CHECK(ends[1].end_s == 13.5);
  CHECK(ends[0].counts.messages == 2);
  CHECK(ends[0].counts.bytes == 64);
  CHECK(ends[1].counts.messages == 1);
}

TEST_CASE("sim: the second message of an exchange waits for the first, those to others do not", "[engine]") {
  const std::vector<SimRank> ends = run_simulated_ranks(3, equal_links(1.0, 8.0), [](const SimWorld& world) {
    std::vector<double> mine(2), theirs(2);
    if (world->rank() == 0) {
      const Message messages[] = {{1, elements(mine)}, {1, elements(mine)}, {2, elements(mine)}};
      world->exchange(messages, {}, 0);
    } else {
      const Message message{0, elements(theirs)};
      world->exchange({}, {&message, 1}, 0);
      if (world->rank() == 1) world->exchange({}, {&message, 1}, 0);
    }
    const Message send{world->rank(), elements(mine)}, receive{world->rank(), elements(theirs)};
    world->exchange({&send, 1}, {&receive, 1}, 9);  // to itself: at once
  });
  CHECK(ends[0].end_s == 0.0);
  CHECK(ends[1].end_s == 6.0);
  CHECK(ends[2].end_s == 3.0);
}

TEST_CASE("sim: collectives give the values and the counts of threads, and take time", "[engine]") {
  const auto gathered = [](const World& world) {
    const DeviceMesh mesh({{"data", 4}});
    const GroupPtr data = group_of(world, mesh, {"data"});
    return all_reduce(full({100}, 1.0 + world->rank(), DType::f64), data).to_vector<double>();
  };
  std::array<TransportCounts, 4> counts;
  run_ranks(4, [&](const World& world) {
    (void)gathered(world);
    counts[static_cast<std::size_t>(world->rank())] = world->counts();
  });
  std::atomic<int> n_right{0};
  const std::vector<SimRank> ends = run_simulated_ranks(
      4, equal_links(0.25, 1e9),
      [&](const SimWorld& world) { n_right += gathered(world) == std::vector<double>(100, 10.0) ? 1 : 0; });
  CHECK(n_right == 4);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    CHECK(ends[rank].counts.messages == counts[rank].messages);
    CHECK(ends[rank].counts.bytes == counts[rank].bytes);
    CHECK(ends[rank].end_s >= 0.5);
  }
}

TEST_CASE("sim: clocks are the same in every run, and failures are told", "[engine]") {
  const auto run = [] {
    return run_simulated_ranks(5, equal_links(0.1, 100.0), [](const SimWorld& world) {
      const int n = world->size(), rank = world->rank();
      std::vector<double> mine(10), theirs(10);
      for (int i = 0; i < 20; ++i) {
        world->advance(0.01 * (rank + i % 3));
        const Message send{(rank + 1) % n, elements(mine)}, receive{(rank + n - 1) % n, elements(theirs)};
        world->exchange({&send, 1}, {&receive, 1}, static_cast<std::uint64_t>(i));
      }
    });
  };
  const std::vector<SimRank> first = run();
  CHECK(first[0].end_s > 20 * 0.9);
  for (int i = 0; i < 5; ++i) {
    const std::vector<SimRank> again = run();
    for (std::size_t rank = 0; rank < first.size(); ++rank) CHECK(again[rank].end_s == first[rank].end_s);
  }
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               run_simulated_ranks(2, equal_links(0, 1), [](const SimWorld& world) { world->advance(-1.0); });
             }),
             HasId("negative_time", {"-1"}));
  CHECK_THAT(error_of<core::FormatError>([&] {
               run_simulated_ranks(3, equal_links(0, 1), [](const SimWorld& world) {
                 std::vector<double> values(3);
                 const Message message{(world->rank() + 1) % 3, elements(values)};
                 if (world->rank() == 2) throw core::FormatError("reader#bad_line", "line {} is bad", 7);
                 world->exchange({&message, 1}, {&message, 1}, 0);
               });
             }),
             HasId("bad_line", {"7"}));
}

TEST_CASE("sim: clocks and predicted times of schedules are equal", "[engine]") {
  unsigned seed = 0;
  for (const int ranks : {4, 8, 16}) {
    for (const auto& [name, schedule] : tests::all_schedules(ranks, 2 * ranks)) {
      PipelineCosts costs;
      ++seed;
      costs.compute_s = [&](const PipelineItem& item) { return cost_of(item, seed); };
      costs.bytes = [](const PipelineItem& item) { return 8.0 * (1 + item.chunk % 5); };
      costs.links = [](int from, int to) { return LinkSpeed{0.1 + 0.01 * from, 100.0 + to}; };
      const PipelineTimeline timeline = timeline_of(schedule, costs);
      INFO(name << " on " << ranks << " ranks");
      CHECK(simulated(schedule, costs, 2) == timeline.items);
      CHECK(timeline.end_s > 3.0 * ranks);
    }
  }
}

TEST_CASE("sim: threads come to a standstill where the check finds a deadlock", "[engine]") {
  for (const auto& [name, schedule] : tests::all_schedules(2, 8)) {
    INFO(name);
    const PipelineCosts costs = equal_costs(schedule, 1.0, 1.0, 1.0);
    const bool ends = check_schedule(schedule, 1).faults.empty();
    CHECK(ends == (name == "gpipe" || name == "1f1b"));
    const core::Error error = error_of<core::InvalidArgument>([&] { (void)simulated(schedule, costs, 1); });
    CHECK(error.id() == (ends ? "nothing_thrown" : "standstill"));
  }
}
