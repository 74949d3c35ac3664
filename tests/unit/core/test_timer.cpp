// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/timer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thread_count.hpp"

#include <nlohmann/json.hpp>

#include <atomic>
#include <set>
#include <thread>

using namespace lodestone::core;
using lodestone::tests::TemporaryFolder;
using lodestone::tests::text_of_file;

namespace {

void nested_regions() {
  const ScopedTimer outer("solve");
  for (int i = 0; i < 3; ++i) {
    const ScopedTimer inner("solve/factorize");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace

TEST_CASE("timer: regions nest and accumulate", "[core]") {
  Timeline::global().clear();
  nested_regions();
  const auto& totals = Timeline::global().totals();
  CHECK(totals.at("solve").calls == 1);
  CHECK(totals.at("solve/factorize").calls == 3);
  CHECK(totals.at("solve/factorize").seconds >= 0.006);
  CHECK(totals.at("solve").seconds >= totals.at("solve/factorize").seconds);
}

TEST_CASE("timer: the table shows rates where work is counted and a dash elsewhere", "[core]") {
  Timeline::global().clear();
  nested_regions();
  Timeline::global().add_work("solve/factorize", 1e9, 2e9);
  const std::string table = Timeline::global().table();
  CHECK(table.find("GFLOP/s") != std::string::npos);
  const std::string row = table.substr(table.find("solve/factorize"));
  CHECK(row.find(" - ") == std::string::npos);
  CHECK(table.find("         -         -") != std::string::npos);
}

TEST_CASE("timer: a running timer tells its seconds", "[core]") {
  const ScopedTimer timer("waiting");
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  CHECK(timer.seconds() >= 0.002);
}

TEST_CASE("trace: events are written as Chrome trace JSON with the rank as process", "[core]") {
  const TemporaryFolder folder;
  Timeline::global().clear();
  Timeline::global().record_events(true);
  nested_regions();
  Timeline::global().record_events(false);
  nested_regions();  // totals only
  Timeline::global().write_chrome_trace(folder / "trace.json", 2);
  const auto trace = nlohmann::json::parse(text_of_file(folder / "trace.json"));
  const auto& events = trace["traceEvents"];
  REQUIRE(events.size() == 5);  // the process name and four regions
  CHECK(events[0]["args"]["name"] == "rank 2");
  CHECK(events[1]["name"] == "solve/factorize");
  CHECK(events[4]["name"] == "solve");
  CHECK(events[4]["ph"] == "X");
  CHECK(events[4]["pid"] == 2);
  CHECK(events[4]["ts"].get<double>() <= events[1]["ts"].get<double>());
  CHECK(events[4]["dur"].get<double>() >= 6000.0);  // microseconds
  Timeline::global().clear();
}

TEST_CASE("trace: regions of several threads add up and carry the number of their thread", "[core]") {
  const TemporaryFolder folder;
  const lodestone::tests::ThreadCount set(2);
  Timeline::global().clear();
  Timeline::global().record_events(true);
  std::atomic<int> here = 0;
  parallel_for(2, [&](std::ptrdiff_t) {
    const ScopedTimer timer("part");
    Timeline::global().add_work("part", 1.0, 0.0);
    ++here;
    while (here < 2) std::this_thread::yield();  // so that each thread has one
  });
  Timeline::global().record_events(false);
  CHECK(Timeline::global().totals().at("part").calls == 2);
  CHECK(Timeline::global().totals().at("part").flops == 2.0);
  CHECK(Timeline::global().table().find("seconds of the 2 threads add up") != std::string::npos);
  Timeline::global().write_chrome_trace(folder / "trace.json", 0);
  const auto trace = nlohmann::json::parse(text_of_file(folder / "trace.json"));
  std::set<int> threads;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == "X") threads.insert(event["tid"].get<int>());
  }
  CHECK(threads == std::set<int>{0, 1});
  Timeline::global().clear();
}

TEST_CASE("trace: an unwritable trace file is a file error", "[core]") {
  CHECK_THROWS_AS(Timeline::global().write_chrome_trace("/proc/no/trace.json", 0), FileError);
}
