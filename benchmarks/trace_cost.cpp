// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/trace_cost.hpp"

#include "benchmarks/mt_vae.hpp"
#include "engine/compile/compile.hpp"
#include "engine/core/timeline.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

namespace lodestone::bench {
namespace {

using core::Timeline;

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Returns the seconds of an event that begins where the last one ended, as launches of a plan do.
double seconds_per_event() {
  constexpr int n = 1'000'000;
  const std::string* const name = Timeline::name("event");
  return seconds_of([&] {
           Timeline::Ticks begin = Timeline::now();
           for (int i = 0; i < n; ++i) {
             const Timeline::Ticks end = Timeline::now();
             Timeline::add({name, Timeline::Kind::launch, begin, end, i, i});
             begin = end;
           }
         }) /
         n;
}

/// Returns the seconds of finding out that nothing is recorded.
double seconds_per_look() {
  constexpr int n = 10'000'000;
  int n_on = 0;
  const double seconds = seconds_of([&] {
    for (int i = 0; i < n; ++i) {
      n_on += Timeline::is_on() ? 1 : 0;
      asm volatile("" : "+r"(n_on));
    }
  });
  return seconds / n;
}

/// Returns the seconds of all launches since the last `clear`.
double seconds_of_launches() {
  const Timeline::Scale scale;
  double microseconds = 0.0;
  for (const Timeline::Thread& thread : Timeline::events()) {
    for (const Timeline::Event& each : thread.events) {
      if (each.kind == Timeline::Kind::launch)
        microseconds += scale.microseconds(each.end) - scale.microseconds(each.begin);
    }
  }
  return 1e-6 * microseconds;
}

}  // namespace

void measure_trace(Results& results) {
  constexpr int n_rounds = 400;
  const auto add = [&](const char* name, const char* metric, const char* unit, double value,
                       std::optional<double> target) {
    results.add({name, metric, unit, value, target, {}, {}, {}});
  };
  add("time line", "per event", "s", seconds_per_event(), 2e-8);
  const MtVaeStep step(core::DType::f32);
  const engine::Compiled compiled = step.compiled({.by_text = false});
  const auto run = [&] { compiled({}); };
  run();
  std::vector<double> off, on, outside;
  for (int i = 0; i < n_rounds; ++i) {
    off.push_back(seconds_of(run));
    Timeline::clear();
    Timeline::record(true);
    on.push_back(seconds_of(run));
    Timeline::record(false);
    outside.push_back(1.0 - seconds_of_launches() / on.back());
  }
  Timeline::clear();
  const engine::CompileStats stats = compiled.stats();
  const double launches = static_cast<double>(stats.n_launches) / static_cast<double>(stats.n_calls);
  const char* const name = "MT-VAE training step, f32, compiled";
  add(name, "not traced", "s", median(off), {});
  add(name, "traced", "s", median(on), {});
  add(name, "traced: more time", "", median(on) / median(off) - 1.0, 0.03);
  add(name, "traced: part of the step outside of its launches", "", median(outside), 0.02);
  add(name, "not traced: looks at the switch", "", launches * seconds_per_look() / median(off), 0.005);
}

}  // namespace lodestone::bench
