// SPDX-License-Identifier: Apache-2.0
// This program counts the mistakes that `check` finds where they are planted into a folder of EDI files, and
// the errors that it reports of the files as they are: bench_check FOLDER [SEED].
//
// In each of ten rounds a tenth of the stations, drawn by the seed, get one mistake each, drawn as well;
// turns are between 30 and 180 degrees either way. Stations with an error as they are get none. A mistake is
// found where its station has the finding that names it, as a warning or an error.
#include "benchmarks/results.hpp"
#include "engine/core/random.hpp"
#include "io/survey/read.hpp"
#include "physics/mt/analysis/check.hpp"
#include "tests/support/planted_mistakes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

using namespace lodestone;
using namespace lodestone::physics::mt;

namespace {

struct Count {
  int planted = 0, found = 0;
};

bool has(const std::vector<Finding>& findings, const std::string& station, const std::string& id) {
  return std::ranges::any_of(findings, [&](const Finding& each) {
    return each.station == station && each.id == id && each.severity >= Severity::warning;
  });
}

std::set<std::string> with_errors(const std::vector<Finding>& findings, const char* id = nullptr) {
  std::set<std::string> names;
  for (const Finding& each : findings)
    if (id == nullptr ? each.severity == Severity::error : each.id == id) names.insert(each.station);
  return names;
}

/// Returns a mistake that a number between 0 and 1 draws, and the angle of a turn another one.
tests::Planted drawn(double which, double angle) {
  const std::vector<tests::Planted> all = tests::planted_mistakes();
  const auto k = static_cast<std::size_t>(which * static_cast<double>(all.size() + 1));
  if (k < all.size()) return all[k];
  constexpr double least_deg = 30.0, most_deg = 180.0;
  const double size_deg = least_deg + (most_deg - least_deg) * std::abs(2.0 * angle - 1.0);
  return tests::turned(angle < 0.5 ? -size_deg : size_deg);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "expected: bench_check FOLDER [SEED]\n");
    return 2;
  }
  const std::uint64_t seed = argc > 2 ? std::stoull(argv[2]) : 1;
  const std::vector<StationData> stations = io::survey::read_folder(argv[1]);
  const std::vector<Finding> before = check(stations);
  const std::set<std::string> wrong = with_errors(before), frames = with_errors(before, "wrong_frame");
  const core::Philox random(seed);
  constexpr std::uint64_t n_rounds = 10, numbers_each = 3;
  std::map<std::string, Count> counts;
  for (std::uint64_t round = 0; round < n_rounds; ++round) {
    std::vector<StationData> with = stations;
    std::map<std::string, tests::Planted> planted;
    for (std::size_t k = 0; k < with.size(); ++k) {
      const std::uint64_t at = numbers_each * (round * with.size() + k);
      if (random.uniform(at) > 1.0 / n_rounds || wrong.contains(with[k].site.name)) continue;
      const tests::Planted mistake = drawn(random.uniform(at + 1), random.uniform(at + 2));
      mistake.plant(with[k]);
      planted.emplace(with[k].site.name, mistake);
    }
    const std::vector<Finding> found = check(with);
    for (const auto& [name, mistake] : planted) {
      const bool is_found = has(found, name, mistake.id);
      ++counts[mistake.what].planted;
      counts[mistake.what].found += is_found;
      if (!is_found) fmt::print(stderr, "not found: {} in {}, round {}\n", mistake.what, name, round + 1);
    }
  }
  bench::Results results;
  const auto share = [](int part, std::size_t all) {
    return 100.0 * part / static_cast<double>(std::max<std::size_t>(all, 1));
  };
  Count all;
  for (const auto& [what, count] : counts) {
    results.add({.name = "check." + what,
                 .metric = fmt::format("found of {}", count.planted),
                 .unit = "%",
                 .value = share(count.found, static_cast<std::size_t>(count.planted))});
    all.planted += count.planted;
    all.found += count.found;
  }
  results.add({.name = "check.all",
               .metric = fmt::format("found of {}", all.planted),
               .unit = "%",
               .value = share(all.found, static_cast<std::size_t>(all.planted))});
  results.add({.name = "check.errors",
               .metric = fmt::format("stations of {}", stations.size()),
               .unit = "%",
               .value = share(static_cast<int>(wrong.size()), stations.size())});
  results.add({.name = "check.frames",
               .metric = fmt::format("stations of {}", stations.size()),
               .unit = "%",
               .value = share(static_cast<int>(frames.size()), stations.size())});
  results.print(1, fmt::format("bench_check FOLDER {}", seed));
}
