// SPDX-License-Identifier: Apache-2.0
// The cheapest choices of random graphs are those that enumeration finds.
#include "engine/core/error.hpp"
#include "engine/dist/search/memory.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <algorithm>
#include <ctime>
#include <limits>
#include <random>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;

namespace {

using Random = std::mt19937_64;

/// Adds a table of whole numbers, whose sums are exact.
void add_table(CostGraph& graph, const std::vector<int>& variables, Random& random) {
  std::size_t n = 1;
  for (const int each : variables)
    n *= static_cast<std::size_t>(graph.n_candidates[static_cast<std::size_t>(each)]);
  std::vector<double> costs;
  for (std::size_t i = 0; i < n; ++i) costs.push_back(static_cast<double>(random() % 1000));
  graph.tables.push_back({variables, std::make_shared<const std::vector<double>>(std::move(costs))});
}

/// Returns 2 to 7 variables of 1 to 5 candidates, with up to 12 tables of up to 3 variables.
CostGraph random_graph(Random& random) {
  CostGraph graph;
  const std::uint64_t n = 2 + random() % 6;
  for (std::uint64_t i = 0; i < n; ++i) graph.n_candidates.push_back(1 + static_cast<int>(random() % 5));
  for (std::uint64_t left = 1 + random() % 12; left > 0; --left) {
    std::vector<int> variables;
    for (std::uint64_t k = 1 + random() % 3; k > 0; --k) {
      const int each = static_cast<int>(random() % n);
      if (std::ranges::find(variables, each) == variables.end()) variables.push_back(each);
    }
    add_table(graph, variables, random);
  }
  return graph;
}

/// Calls a function with each choice of a graph.
void for_each_choice(const CostGraph& graph, const std::function<void(const std::vector<int>&)>& visit) {
  std::vector<int> choice(graph.n_candidates.size(), 0);
  for (std::size_t i = 0; i < choice.size();) {
    if (i == 0) visit(choice);
    if (++choice[i] < graph.n_candidates[i]) {
      i = 0;
    } else {
      choice[i++] = 0;
    }
  }
}

/// Returns the variables of 48 layers of 8 products and sums each, whose inputs also go past the layers.
CostGraph layers_of_a_transformer() {
  CostGraph graph;
  Random random(2);
  constexpr int n_layers = 48;
  graph.n_candidates.assign(8 * n_layers + 1, 25);
  for (int first = 0; first < 8 * n_layers; first += 8) {
    for (int k = 0; k < 8; ++k) add_table(graph, {first + k, first + k + 1}, random);
    for (const auto& [from, to] : {std::pair(0, 4), std::pair(4, 8), std::pair(1, 3), std::pair(2, 6)})
      add_table(graph, {first + from, first + to}, random);
  }
  return graph;
}

}  // namespace

TEST_CASE("search: elimination finds the optimum of enumeration on 200 random graphs", "[engine]") {
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    CAPTURE(i);
    const CostGraph graph = random_graph(random);
    double least = std::numeric_limits<double>::infinity();
    for_each_choice(graph, [&](const auto& choice) { least = std::min(least, cost_of(graph, choice)); });
    const Choice found = cheapest(graph);
    CHECK(found.is_exact());
    CHECK(found.cost == least);
    CHECK(cost_of(graph, found.candidates) == least);
  }
}

TEST_CASE("search: choices that fit lie between their bound and the optimum", "[engine]") {
  Random random(3);
  int n_fitting = 0, n_best = 0, n_bound = 0;
  for (int i = 0; i < 200; ++i) {
    CAPTURE(i);
    CostGraph graph = random_graph(random);
    for (const int n : graph.n_candidates) {
      std::vector<double>& bytes = graph.memory.emplace_back();
      for (int k = 0; k < n && random() % 8 != 0; ++k) bytes.push_back(static_cast<double>(random() % 100));
      if (std::ssize(bytes) < n) bytes.clear();
    }
    const auto room = static_cast<double>(random() % 200);
    double least = std::numeric_limits<double>::infinity();
    for_each_choice(graph, [&](const auto& choice) {
      if (memory_of(graph, choice) <= room) least = std::min(least, cost_of(graph, choice));
    });
    if (least == std::numeric_limits<double>::infinity()) {
      CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)cheapest_within(graph, room); }),
                 HasId("memory", {fmt::format("at least {:.0f} B", least_memory_of(graph))}));
      continue;
    }
    const FittingChoice found = cheapest_within(graph, room);
    CHECK(found.memory == memory_of(graph, found.choice.candidates));
    CHECK(found.memory <= room);
    CHECK(found.choice.cost >= least);
    CHECK(found.bound <= least + 1e-9);
    n_fitting += 1;
    n_best += found.choice.cost == least ? 1 : 0;
    n_bound += found.bound >= found.choice.cost - 1e-9 ? 1 : 0;
  }
  CAPTURE(n_fitting, n_best, n_bound);
  CHECK(n_fitting > 100);
  CHECK(n_best >= n_fitting * 95 / 100);  // a price cannot find all of them
  CHECK(n_bound >= n_fitting / 4);
}

TEST_CASE("search: 48 layers of a transformer take less than two seconds", "[engine]") {
  const CostGraph graph = layers_of_a_transformer();
  const std::clock_t begin = std::clock();
  const Choice found = cheapest(graph);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  CAPTURE(seconds, found.largest_table);
  CHECK(found.is_exact());
  CHECK(found.largest_table >= 25 * 25 * 25);
  CHECK(seconds < 2.0);
}

TEST_CASE("search: a table without room leaves candidates out and says so", "[engine]") {
  Random random(5);
  CostGraph graph;
  graph.n_candidates.assign(6, 8);
  for (int i = 0; i < 6; ++i) {
    for (int k = i + 1; k < 6; ++k) add_table(graph, {i, k}, random);
  }
  const Choice exact = cheapest(graph), narrow = cheapest(graph, 100);
  CHECK(exact.is_exact());
  CHECK_FALSE(narrow.is_exact());
  CHECK(narrow.largest_table <= 100);
  CHECK(narrow.cost >= exact.cost);
  CHECK(narrow.cost == cost_of(graph, narrow.candidates));
  CHECK(narrow.cost < 1.5 * exact.cost);
}
