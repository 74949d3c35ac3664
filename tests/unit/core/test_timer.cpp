// SPDX-License-Identifier: Apache-2.0
#include "engine/core/chrome_trace.hpp"
#include "engine/core/error.hpp"
#include "engine/core/parallel.hpp"
#include "engine/core/timer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thread_count.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
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
  TimerTotals::global().clear();
  nested_regions();
  const auto& totals = TimerTotals::global().totals();
  CHECK(totals.at("solve").calls == 1);
  CHECK(totals.at("solve/factorize").calls == 3);
  CHECK(totals.at("solve/factorize").seconds >= 0.006);
  CHECK(totals.at("solve").seconds >= totals.at("solve/factorize").seconds);
}

TEST_CASE("timer: the table shows rates where work is counted and a dash elsewhere", "[core]") {
  TimerTotals::global().clear();
  nested_regions();
  TimerTotals::global().add_work("solve/factorize", 1e9, 2e9);
  const std::string table = TimerTotals::global().table();
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

TEST_CASE("timer: regions are events, of each thread in the order in which they end", "[core]") {
  const TemporaryFolder folder;
  Timeline::clear();
  Timeline::record(true);
  nested_regions();
  Timeline::record(false);
  nested_regions();  // totals only
  write_chrome_trace(folder / "trace.json", 2);
  const auto trace = nlohmann::json::parse(text_of_file(folder / "trace.json"));
  const auto& events = trace["traceEvents"];
  REQUIRE(events.size() == 6);  // the names of process and thread, and four regions
  CHECK(events[0]["args"]["name"] == "rank 2");
  CHECK(events[2]["name"] == "solve/factorize");
  CHECK(events[5]["name"] == "solve");
  CHECK(events[5]["ph"] == "X");
  CHECK(events[5]["pid"] == 2);
  CHECK(events[5]["ts"].get<double>() <= events[2]["ts"].get<double>());
  CHECK(events[5]["dur"].get<double>() >= 6000.0);  // microseconds
  Timeline::clear();
}

TEST_CASE("timer: regions of several threads add up and stand on lines of their own", "[core]") {
  const lodestone::tests::ThreadCount set(2);
  TimerTotals::global().clear();
  Timeline::clear();
  Timeline::record(true);
  std::atomic<int> here = 0;
  parallel_for(2, [&](std::ptrdiff_t) {
    const ScopedTimer timer("part");
    TimerTotals::global().add_work("part", 1.0, 0.0);
    ++here;
    while (here < 2) std::this_thread::yield();  // so that each thread has one
  });
  Timeline::record(false);
  CHECK(TimerTotals::global().totals().at("part").calls == 2);
  CHECK(TimerTotals::global().totals().at("part").flops == 2.0);
  CHECK(TimerTotals::global().table().find("seconds of the 2 threads add up") != std::string::npos);
  const auto threads = Timeline::events();
  CHECK(std::ranges::count_if(threads, [](const auto& each) { return each.events.size() == 1; }) == 2);
  Timeline::clear();
}

TEST_CASE("trace: an unwritable trace file is a file error", "[core]") {
  CHECK_THROWS_AS(write_chrome_trace("/proc/no/trace.json", 0), FileError);
}
