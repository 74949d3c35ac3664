// SPDX-License-Identifier: Apache-2.0
#include "engine/core/chrome_trace.hpp"
#include "engine/core/error.hpp"
#include "engine/core/timer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/temporary_folder.hpp"

#include <nlohmann/json.hpp>

#include <atomic>
#include <csignal>
#include <map>
#include <sys/resource.h>
#include <thread>

using namespace lodestone::core;
using lodestone::tests::error_of;
using lodestone::tests::HasId;
using lodestone::tests::TemporaryFolder;
using lodestone::tests::text_of_file;

namespace {

using Kind = Timeline::Kind;

/// Recording from nothing, and nothing left behind.
struct Recording {
  Recording() {
    Timeline::clear();
    Timeline::record(true);
  }
  ~Recording() {
    Timeline::record(false);
    Timeline::clear();
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
};

/// An event of which all numbers are one.
void add_number(const std::string* name, std::int64_t i) { Timeline::add({name, Kind::step, i, i, i, i}); }

std::vector<Timeline::Thread> threads_with_events() {
  auto result = Timeline::events();
  std::erase_if(result, [](const Timeline::Thread& each) { return each.events.empty(); });
  return result;
}

}  // namespace

TEST_CASE("timeline: one text has one name", "[core]") {
  CHECK(Timeline::name("solve") == Timeline::name(std::string("sol") + "ve"));
  CHECK(Timeline::name("solve") != Timeline::name("solved"));
}

TEST_CASE("timeline: scopes and timers write nothing while it is off", "[core]") {
  Timeline::clear();
  { const TimelineScope scope(Kind::pass, "merging"); }
  { const ScopedTimer timer("solve"); }
  CHECK(threads_with_events().empty());
}

TEST_CASE("timeline: the oldest events give way, and are counted", "[core]") {
  const Recording on;
  constexpr auto n_more = 10;
  const std::string* const name = Timeline::name("event");
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(Timeline::most_events) + n_more; ++i)
    add_number(name, i);
  const auto threads = threads_with_events();
  REQUIRE(threads.size() == 1);
  CHECK(threads[0].n_lost == n_more + 1);  // and the slot that could be written next
  CHECK(threads[0].events.front().begin == n_more + 1);
  CHECK(threads[0].events.back().begin == static_cast<std::int64_t>(Timeline::most_events) + n_more - 1);
}

TEST_CASE("timeline: events that are read while others are written are whole and in order", "[core]") {
  const Recording on;
  std::atomic<bool> is_done{false};
  const std::string* const name = Timeline::name("event");
  std::thread writer([&] {
    for (std::int64_t i = 0; !is_done; ++i) add_number(name, i);
  });
  std::int64_t n_torn = 0, n_out_of_order = 0, n_read = 0;
  while (n_read < 4 * static_cast<std::int64_t>(Timeline::most_events)) {
    for (const Timeline::Thread& thread : Timeline::events()) {
      std::int64_t before = -1;
      for (const Timeline::Event& each : thread.events) {
        n_torn += each.name != name || each.begin != each.end || each.begin != each.first ||
                  each.begin != each.second;
        n_out_of_order += before >= 0 && each.begin != before + 1;
        before = each.begin;
        ++n_read;
      }
    }
  }
  is_done = true;
  writer.join();
  CHECK(n_torn == 0);
  CHECK(n_out_of_order == 0);
}

TEST_CASE("timeline: a thread that ends leaves its ring to the next", "[core]") {
  const Recording on;
  const std::string* const name = Timeline::name("event");
  const auto run_one = [&] { std::thread([&] { add_number(name, 1); }).join(); };
  run_one();
  const std::size_t n_before = Timeline::events().size();
  for (int i = 0; i < 5; ++i) run_one();
  CHECK(Timeline::events().size() == n_before);
}

TEST_CASE("timeline: the scale gives microseconds", "[core]") {
  const Timeline::Ticks begin = Timeline::now();
  const auto before = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const Timeline::Ticks end = Timeline::now();
  const double expected =
      std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - before).count();
  const Timeline::Scale scale;
  CHECK(std::abs(scale.microseconds(end) - scale.microseconds(begin) - expected) < 0.02 * expected);
}

TEST_CASE("trace: numbers of events have names, memory is a counter", "[core]") {
  Timeline::Thread thread{3, {}};
  thread.events.push_back({Timeline::name("conv \"a\" (net.cpp:1)"), Kind::launch, 10, 20, 7, 4096});
  thread.events.push_back({Timeline::name("memory of cpu:0"), Kind::memory, 30, 30, 100, 200});
  const auto trace = nlohmann::json::parse(chrome_trace({thread}, 2));
  std::map<std::string, nlohmann::json> of_phase;
  for (const auto& each : trace["traceEvents"]) of_phase[each["ph"]] = each;
  CHECK(of_phase["X"]["name"] == "conv \"a\" (net.cpp:1)");
  CHECK(of_phase["X"]["cat"] == "launch");
  CHECK(of_phase["X"]["args"] == nlohmann::json{{"position", 7}, {"bytes", 4096}});
  CHECK(of_phase["X"]["pid"] == 2);
  CHECK(of_phase["X"]["tid"] == 3);
  CHECK(of_phase["C"]["name"] == "memory of cpu:0");
  CHECK(of_phase["C"]["args"] == nlohmann::json{{"bytes in use", 100}});
}

TEST_CASE("trace: what fails is traced until then, and its error is the one that comes", "[core]") {
  const TemporaryFolder folder;
  const auto failing = [] {
    { const ScopedTimer timer("before the fault"); }
    throw SolverError("test#failed", "as planned");
  };
  CHECK_THROWS_AS(traced(folder / "trace.json", 1, failing), SolverError);
  CHECK_FALSE(Timeline::is_on());
  CHECK(text_of_file(folder / "trace.json.1").find("before the fault") != std::string::npos);
}

TEST_CASE("trace: a folder that is not there or a disk without room is an error before the run", "[core]") {
  const TemporaryFolder folder;
  bool has_run = false;
  const auto run = [&] { has_run = true; };
  CHECK_THAT(error_of<FileError>([&] { traced(folder / "no/trace.json", 0, run); }), HasId("unwritable"));
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small{4096, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  const auto error = error_of<FileError>([&] { traced(folder / "trace.json", 0, run); });
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  CHECK_THAT(error, HasId("unwritable"));
  CHECK_FALSE(has_run);
  CHECK(std::filesystem::is_empty(folder.path()));
}
