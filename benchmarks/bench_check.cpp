// SPDX-License-Identifier: Apache-2.0
// This program counts the mistakes that `check` finds where they are planted into a folder of EDI files, and
// the errors that it reports of the files as they are: bench_check FOLDER [SEED].
//
// In each of ten rounds a tenth of the stations, drawn by the seed, get one mistake each, drawn as well;
// turns are between 30 and 180 degrees either way. Stations with an error as they are get none. A mistake is
// found where its station has the finding that names it, as a warning or an error. Then each station alone is
// turned by each of 22 angles of 30 to 180 degrees either way: how many of these turns are found, and of how
// many stations as they are the neighbours agree with the axes to within 25 degrees.
#include "benchmarks/results.hpp"
#include "engine/core/parallel.hpp"
#include "engine/core/random.hpp"
#include "io/survey/read.hpp"
#include "physics/mt/analysis/check.hpp"
#include "physics/mt/analysis/induction.hpp"
#include "physics/mt/analysis/neighbours.hpp"
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
    return each.is_about(station) && each.id == id && each.severity >= Severity::warning;
  });
}

std::set<std::string> with_errors(const std::vector<Finding>& findings, const char* id = nullptr) {
  std::set<std::string> names;
  for (const Finding& each : findings)
    if (id == nullptr ? each.severity == Severity::error : each.id == id) {
      names.insert(each.station);
      names.insert(each.others.begin(), each.others.end());
    }
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

/// Counts of all turns of all stations, one at a time.
struct Turns {
  Count all, with_tipper, without_tipper;
  int n_agree = 0, n_agree_with = 0, n_agree_without = 0;
};

bool has_tipper(const StationData& station) {
  constexpr std::ptrdiff_t enough = 5;
  return std::ranges::count_if(station.rows, [](const StationRow& row) {
           return !row.is_missing(Element::tzx) && !row.is_missing(Element::tzy) &&
                  std::hypot(std::abs(row.values[Element::tzx]), std::abs(row.values[Element::tzy])) >
                      least_recorded_tipper;
         }) >= enough;
}

Turns counted_turns(const std::vector<StationData>& stations) {
  constexpr int least_deg = 30, most_deg = 180, step_deg = 15, n_turns = 22;
  constexpr double agreement_deg = 25.0;
  const FrameComparison comparison(stations);
  std::vector<int> found(stations.size());
  std::vector<char> agrees(stations.size());
  core::parallel_for(std::ssize(stations), [&](std::ptrdiff_t each) {
    const auto k = static_cast<std::size_t>(each);
    const auto is = comparison.turn_of(k);
    agrees[k] = is && std::abs(is->turn_deg) <= agreement_deg;
    for (int angle = -most_deg; angle <= most_deg; angle += step_deg) {
      if (std::abs(angle) < least_deg) continue;
      StationData planted = stations[k];
      tests::turned(angle).plant(planted);
      const auto turn = comparison.turn_of(planted, k);
      found[k] += turn && turn->is_wrong();
    }
  });
  Turns out;
  for (std::size_t k = 0; k < stations.size(); ++k) {
    const bool with = has_tipper(stations[k]);
    for (Count* each : {&out.all, with ? &out.with_tipper : &out.without_tipper})
      each->planted += n_turns, each->found += found[k];
    out.n_agree += agrees[k];
    (with ? out.n_agree_with : out.n_agree_without) += agrees[k];
  }
  return out;
}

/// Returns a part of all in per cent; 0 of none.
double share(int part, std::size_t all) {
  return 100.0 * part / static_cast<double>(std::max<std::size_t>(all, 1));
}

void add_turns(bench::Results& results, const Turns& turns) {
  constexpr int n_turns = 22;
  const auto add = [&](const std::string& what, const Count& count, int n_agree) {
    const int n_stations = count.planted / n_turns;
    results.add({.name = "check.turns" + what,
                 .metric = fmt::format("found of {}", count.planted),
                 .unit = "%",
                 .value = share(count.found, static_cast<std::size_t>(count.planted))});
    results.add({.name = "check.axes" + what,
                 .metric = fmt::format("agree of {}", n_stations),
                 .unit = "%",
                 .value = share(n_agree, static_cast<std::size_t>(n_stations))});
  };
  add("", turns.all, turns.n_agree);
  add(" with a tipper", turns.with_tipper, turns.n_agree_with);
  add(" without", turns.without_tipper, turns.n_agree_without);
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
  add_turns(results, counted_turns(stations));
  results.print(1, fmt::format("bench_check FOLDER {}", seed));
}
