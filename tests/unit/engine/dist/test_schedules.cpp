// SPDX-License-Identifier: Apache-2.0
// Schedules of pipelines and their checker: faults that are planted must be found and named.
#include "engine/dist/pipeline/check.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/dist/all_schedules.hpp"

#include <algorithm>
#include <random>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::NamedSchedule;

namespace {

using Kind = ScheduleFault::Kind;
using Items = std::vector<PipelineItem>;

/// A place in a schedule.
struct Place {
  std::size_t rank = 0, position = 0;
};

/// A schedule with a fault, and what its report must say.
struct Planted {
  PipelineSchedule schedule;
  Kind kind = Kind::missing;
  std::size_t rank = 0;
  std::string item;
};

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(engine_); }
  Place place_in(const PipelineSchedule& schedule) {
    const std::size_t rank = below(schedule.ranks.size());
    return {rank, below(schedule.ranks[rank].items.size())};
  }

 private:
  std::mt19937 engine_;
};

void move_item(Items& items, std::size_t from, std::size_t to) {
  const PipelineItem item = items[from];
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(from));
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(to), item);
}

std::size_t find(const Items& items, const PipelineItem& item) {
  return static_cast<std::size_t>(std::ranges::find(items, item) - items.begin());
}

Planted missing(PipelineSchedule schedule, Random& random) {
  const auto [rank, position] = random.place_in(schedule);
  Items& items = schedule.ranks[rank].items;
  const std::string item = text_of(items[position]);
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(position));
  return {schedule, Kind::missing, rank, item};
}

Planted doubled(PipelineSchedule schedule, Random& random) {
  const auto [rank, position] = random.place_in(schedule);
  Items& items = schedule.ranks[rank].items;
  const PipelineItem item = items[position];
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(random.below(items.size() + 1)), item);
  return {schedule, Kind::repeated, rank, text_of(item)};
}

/// Swaps an item with an earlier one that it needs: F with its receive, B with F, W with B, a send with its
/// pass.
Planted swapped(PipelineSchedule schedule, Random& random) {
  for (;;) {
    const auto [rank, position] = random.place_in(schedule);
    Items& items = schedule.ranks[rank].items;
    const PipelineItem item = items[position];
    PipelineItem need = item;
    need.action = PipelineAction::compute;
    if (item.action == PipelineAction::receive) continue;
    if (item.action == PipelineAction::compute) {
      if (item.pass == PipelinePass::forward) {
        need.action = PipelineAction::receive;
        --need.chunk;
      } else {
        need.pass = item.pass == PipelinePass::weights ? PipelinePass::backward : PipelinePass::forward;
      }
    }
    const std::size_t other = find(items, need);
    if (other == items.size() || other == position) continue;
    std::swap(items[position], items[other]);
    return {schedule, Kind::out_of_order, rank, text_of(item)};
  }
}

/// Swaps two receives of one channel.
Planted crossed(PipelineSchedule schedule, Random& random) {
  for (;;) {
    const auto [rank, position] = random.place_in(schedule);
    Items& items = schedule.ranks[rank].items;
    const PipelineItem item = items[position];
    if (item.action != PipelineAction::receive) continue;
    const auto later = std::find_if(
        items.begin() + static_cast<std::ptrdiff_t>(position) + 1, items.end(), [&](const auto& each) {
          return each.action == item.action && schedule.rank_of(each.chunk) == schedule.rank_of(item.chunk);
        });
    if (later == items.end()) continue;
    const std::string text = text_of(*later);
    std::iter_swap(later, items.begin() + static_cast<std::ptrdiff_t>(position));
    return {schedule, Kind::unmatched, rank, text};
  }
}

/// Lets a rank wait for the cotangents of a leaf before it sends that leaf on.
Planted circular(PipelineSchedule schedule, Random& random) {
  for (;;) {
    const auto [rank, position] = random.place_in(schedule);
    Items& items = schedule.ranks[rank].items;
    const PipelineItem item = items[position];
    if (item.action != PipelineAction::send || item.pass != PipelinePass::forward) continue;
    const PipelineItem answer{PipelineAction::receive, PipelinePass::backward, item.chunk + 1, item.leaf};
    // All that is received before the answer goes before the send as well: the order of channels stays.
    for (std::size_t i = position, to = position; i <= find(items, answer); ++i) {
      if (items[i].action == PipelineAction::receive) move_item(items, i, to++);
    }
    return {schedule, Kind::deadlock, rank, ""};
  }
}

/// Lets the first ranks run all leaves forwards before they receive anything, while the others alternate.
/// Then sends fill up in both directions: it needs more than one buffer. The V does by itself.
PipelineSchedule narrow(const NamedSchedule& named, Random& random) {
  const auto n_chunks = static_cast<int>(named.schedule.ranks[0].chunks.size());
  if (named.name == "zbv") return named.schedule;
  if (n_chunks > 1) return interleaved(2, named.schedule.n_leaves, n_chunks);
  PipelineSchedule schedule = named.schedule;
  const std::size_t n_first = 1 + random.below(schedule.ranks.size() - 1);
  for (std::size_t rank = 0; rank < n_first; ++rank)
    std::ranges::stable_partition(schedule.ranks[rank].items,
                                  [](const auto& item) { return item.pass == PipelinePass::forward; });
  for (std::size_t rank = n_first; rank < schedule.ranks.size() && named.name == "gpipe"; ++rank)
    schedule.ranks[rank] =
        one_f_one_b(static_cast<int>(schedule.ranks.size()), schedule.n_leaves).ranks[rank];
  return with_messages(schedule);
}

bool has(const std::vector<ScheduleFault>& faults, const Planted& planted) {
  return std::ranges::any_of(faults, [&](const ScheduleFault& fault) {
    return fault.kind == planted.kind && fault.rank == static_cast<int>(planted.rank) &&
           (planted.item.empty() || fault.item == planted.item) &&
           fault.text.find(fmt::format("rank {}, position {}: expected", fault.rank, fault.position)) == 0;
  });
}

std::string text_of(const std::vector<ScheduleFault>& faults) {
  std::string text;
  for (const ScheduleFault& fault : faults) text += fault.text + "\n";
  return text;
}

}  // namespace

TEST_CASE("schedules: each passes its check, and its text gives it back", "[engine]") {
  int n = 0;
  for (const int ranks : {1, 2, 3, 4, 8}) {
    for (const int leaves : {1, 2, 3, 4, 7, 8, 16, 24}) {
      for (const auto& [name, schedule] : tests::all_schedules(ranks, leaves)) {
        INFO(name << " on " << ranks << " ranks, " << leaves << " leaves");
        const ScheduleCheck check = check_schedule(schedule);
        CHECK(text_of(check.faults) == "");
        CHECK(check.kept.size() == static_cast<std::size_t>(ranks));
        const std::string text = text_of(schedule);
        CHECK(std::ranges::count(text, '\n') == ranks);
        CHECK(schedule_from(text) == schedule);
        CHECK(text_of(schedule_from(text)) == text);
        ++n;
      }
    }
  }
  CHECK(n > 120);
}

TEST_CASE("schedules: two small ones, written by hand", "[engine]") {
  CHECK(text_of(one_f_one_b(2, 2)) ==
        "rank 0, chunks 0, leaves 2: F0.0 >F0.0 F0.1 >F0.1 <B1.0 BW0.0 <B1.1 BW0.1\n"
        "rank 1, chunks 1, leaves 2: <F0.0 F1.0 BW1.0 >B1.0 <F0.1 F1.1 BW1.1 >B1.1\n");
  CHECK(text_of(zero_bubble_v(2, 1)) ==
        "rank 0, chunks 0 3, leaves 1: F0.0 >F0.0 <F2.0 F3.0 B3.0 >B3.0 W3.0 <B1.0 B0.0 W0.0\n"
        "rank 1, chunks 1 2, leaves 1: <F0.0 F1.0 F2.0 >F2.0 <B3.0 B2.0 W2.0 B1.0 >B1.0 W1.0\n");
}

TEST_CASE("schedules: each chunk that lies elsewhere costs two messages per leaf", "[engine]") {
  const auto n_sends = [](const PipelineSchedule& schedule) {
    std::ptrdiff_t n = 0;
    for (const RankSchedule& rank : schedule.ranks)
      n += std::ranges::count(rank.items, PipelineAction::send, &PipelineItem::action);
    return n;
  };
  CHECK(n_sends(gpipe(4, 8)) == 2 * 8 * 3);
  CHECK(n_sends(one_f_one_b(4, 8)) == 2 * 8 * 3);
  CHECK(n_sends(interleaved(4, 8, 2)) == 2 * 8 * 7);
  CHECK(n_sends(zero_bubble_v(4, 8)) == 2 * 8 * 6);  // the two chunks of the last rank are neighbours
}

TEST_CASE("schedules: one of a user is checked like the others", "[engine]") {
  const PipelineSchedule own =
      with_messages(schedule_from("rank 0, chunks 0, leaves 2: F0.0 F0.1 B0.0 B0.1 W0.1 W0.0\n"
                                  "rank 1, chunks 1, leaves 2: F1.0 B1.0 F1.1 B1.1 W1.0 W1.1\n"));
  const ScheduleCheck check = check_schedule(own, 1);
  CHECK(text_of(check.faults) == "");
  CHECK(check.kept == std::vector<KeptLeaves>{{2, 2, 2}, {1, 2, 2}});
  CHECK(buffers_needed(own) == 1);
  PipelineSchedule mixed = own;
  mixed.ranks[0].items.push_back({PipelineAction::compute, PipelinePass::both, 0, 1});
  CHECK_THAT(error_of<core::InvalidArgument>([&] { require_sound(mixed); }),
             HasId("faults", {"rank 0, position 8", "expected no B0.1"}));
}

TEST_CASE("schedules: planted faults are found and named", "[engine]") {
  Random random(11);
  int n = 0;
  for (int round = 0; round < 16; ++round) {
    const int ranks = 2 + round % 3;
    for (const auto& [name, schedule] : tests::all_schedules(ranks, 2 * ranks + (round % 2) * ranks)) {
      for (const auto plant : {missing, doubled, swapped, crossed, circular}) {
        Planted planted = plant(schedule, random);
        const std::vector<ScheduleFault> faults = check_schedule(planted.schedule).faults;
        INFO(name << ": " << planted.item << " of rank " << planted.rank << "\n"
                  << text_of(planted.schedule) << text_of(faults));
        CHECK(has(faults, planted));
        ++n;
      }
    }
  }
  CHECK(n >= 200);
}

TEST_CASE("schedules: deadlocks of one buffer are found, and only these", "[engine]") {
  Random random(12);
  int n = 0;
  for (int round = 0; round < 12; ++round) {
    const int ranks = 2 + round % 4;
    for (const NamedSchedule& each : tests::all_schedules(ranks, 4 * ranks)) {
      const PipelineSchedule schedule = narrow(each, random);
      const std::vector<ScheduleFault> faults = check_schedule(schedule, 1).faults;
      INFO(each.name << "\n" << text_of(schedule) << text_of(faults));
      CHECK(text_of(check_schedule(schedule).faults) == "");
      CHECK(faults.size() > 1);
      CHECK(std::ranges::all_of(faults, [](const auto& fault) { return fault.kind == Kind::deadlock; }));
      CHECK(std::ranges::any_of(faults, [](const auto& fault) { return fault.item.starts_with('>'); }));
      const int needed = buffers_needed(schedule);
      CHECK(needed > 1);
      CHECK(check_schedule(schedule, needed).faults.empty());
      CHECK(check_schedule(schedule, needed - 1).faults.size() > 1);
      ++n;
    }
  }
  CHECK(n == 60);
  for (const NamedSchedule& each : tests::all_schedules(4, 16))
    CHECK(buffers_needed(each.schedule) == (each.name == "zbv" ? 2 : 1));
}

TEST_CASE("schedules: items that no rank should have", "[engine]") {
  const auto faults_of = [](std::size_t rank, const PipelineItem& item) {
    PipelineSchedule schedule = one_f_one_b(3, 2);
    schedule.ranks[rank].items[1] = item;
    return check_schedule(schedule).faults;
  };
  const Items wrong{{PipelineAction::compute, PipelinePass::forward, 2, 0},
                    {PipelineAction::compute, PipelinePass::forward, 0, 2},
                    {PipelineAction::compute, PipelinePass::both, 3, 0},
                    {PipelineAction::send, PipelinePass::both, 0, 0},
                    {PipelineAction::send, PipelinePass::backward, 0, 0},
                    {PipelineAction::receive, PipelinePass::forward, 0, 0},
                    {PipelineAction::receive, PipelinePass::backward, 2, 1}};
  for (const PipelineItem& item : wrong) {
    INFO(text_of(item));
    const std::vector<ScheduleFault> faults = faults_of(0, item);
    CHECK(has(faults, {{}, Kind::misplaced, 0, text_of(item)}));
  }
  PipelineSchedule twice = gpipe(2, 2);
  twice.ranks[1].chunks = {0};
  CHECK(has(check_schedule(twice).faults, {{}, Kind::misplaced, 1, "0"}));
  CHECK(check_schedule({}).faults.size() == 1);
}

TEST_CASE("schedules: errors name what was expected", "[engine]") {
  CHECK_THAT(error_of<core::InvalidArgument>([] { (void)gpipe(0, 2); }), HasId("no_ranks_or_leaves"));
  CHECK_THAT(error_of<core::InvalidArgument>([] { (void)zero_bubble_v(2, 0); }), HasId("no_ranks_or_leaves"));
  CHECK_THAT(error_of<core::InvalidArgument>([] { (void)interleaved(2, 2, 0); }), HasId("no_chunks"));
  CHECK_THAT(error_of<core::InvalidArgument>([] { (void)interleaved(4, 6, 2); }),
             HasId("uneven_leaves", {"4", "6"}));
  CHECK_THAT(error_of<core::InvalidArgument>([] { (void)check_schedule(gpipe(2, 2), 0); }),
             HasId("no_buffers"));
  const auto error = [](const std::string& text) {
    return error_of<core::InvalidArgument>([&] { (void)schedule_from(text); });
  };
  CHECK_THAT(error("rank 0, chunks 0, leaves 1: F0.0 X\n"),
             HasId("wrong_text", {"line 1", "column 34", "X"}));
  CHECK_THAT(error("rank 0, chunks 0, leaves 1: F0.01\n"), HasId("wrong_text", {"column 32"}));
  CHECK_THAT(error("rank 1, chunks 0, leaves 1:\n"), HasId("wrong_text", {"rank 0, chunks"}));
  CHECK_THAT(error("rank 0, chunks 0, leaves 1:\nrank 1, chunks 1, leaves 2:\n"), HasId("other_leaves"));
}
