// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/search/eliminate.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

namespace lodestone::engine {
namespace {

using Entries = std::vector<double>;
using EntriesPtr = std::shared_ptr<const Entries>;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// A table while variables are eliminated; null entries: it is part of a newer one.
struct LiveTable {
  std::vector<int> variables;
  EntriesPtr costs;
};

/// The candidate of a variable for each choice of its neighbours, the last one fastest.
struct Answer {
  int variable;
  std::vector<int> neighbours;
  std::vector<std::uint16_t> candidates;
};

class Elimination {
 public:
  /// Takes a graph, with all candidates where `allowed` is empty.
  Elimination(const CostGraph& graph, const Allowed& allowed, std::size_t most_entries)
      : graph_(graph), most_entries_(static_cast<double>(most_entries)), n_(graph.n_candidates) {
    tables_of_.resize(n_.size());
    sizes_.resize(n_.size());
    for (const int n : n_) {
      kept_.emplace_back(static_cast<std::size_t>(n));
      std::iota(kept_.back().begin(), kept_.back().end(), 0);
    }
    for (const CostTable& table : graph.tables) add({table.variables, table.costs});
    for (int variable = 0; variable < std::ssize(allowed); ++variable) {
      const std::vector<int>& its = allowed[at(variable)];
      if (std::ssize(its) < n_[at(variable)]) keep(variable, {its.begin(), its.end()}, turned_to(variable));
    }
    for (int variable = 0; variable < std::ssize(n_); ++variable) {
      sizes_[at(variable)] = size_without(variable);
      order_.emplace(sizes_[at(variable)], variable);
    }
  }

  [[nodiscard]] Choice run() {
    Choice choice;
    while (!order_.empty()) {
      const auto [size, variable] = *order_.begin();
      if (size > most_entries_) {
        narrow(variable);
        ++choice.n_narrowed;
        continue;
      }
      order_.erase(order_.begin());
      choice.largest_table = std::max(choice.largest_table, static_cast<std::size_t>(size));
      eliminate(variable);
    }
    std::vector<int> found(n_.size());
    for (auto answer = answers_.rbegin(); answer != answers_.rend(); ++answer) {
      std::size_t place = 0;
      for (const int each : answer->neighbours) place = place * at(n_[at(each)]) + at(found[at(each)]);
      found[at(answer->variable)] = answer->candidates[place];
    }
    for (std::size_t i = 0; i < found.size(); ++i) choice.candidates.push_back(kept_[i][at(found[i])]);
    choice.cost = cost_of(graph_, choice.candidates);
    return choice;
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  void add(LiveTable table) {
    for (const int variable : table.variables) tables_of_[at(variable)].push_back(tables_.size());
    tables_.push_back(std::move(table));
  }

  [[nodiscard]] std::vector<int> neighbours_of(int variable) const {
    std::vector<int> all;
    for (const std::size_t table : tables_of_[at(variable)])
      all.insert(all.end(), tables_[table].variables.begin(), tables_[table].variables.end());
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());
    std::erase(all, variable);
    return all;
  }

  /// Returns the entries of the table that is left when a variable has been eliminated.
  [[nodiscard]] double size_without(int variable) const {
    double size = 1.0;
    for (const int each : neighbours_of(variable)) size *= n_[at(each)];
    return size;
  }

  void renew_size(int variable) {
    order_.erase({sizes_[at(variable)], variable});
    sizes_[at(variable)] = size_without(variable);
    order_.emplace(sizes_[at(variable)], variable);
  }

  /// Returns how far apart the entries of neighbouring candidates are, per variable of a table.
  [[nodiscard]] std::vector<std::size_t> strides_of(const LiveTable& table) const {
    std::vector<std::size_t> strides(table.variables.size(), 1);
    for (std::size_t i = strides.size(); i-- > 1;)
      strides[i - 1] = strides[i] * at(n_[at(table.variables[i])]);
    return strides;
  }

  /// Returns the table with a variable as the last one.
  [[nodiscard]] LiveTable with_last(const LiveTable& table, int variable) const {
    if (table.variables.back() == variable) return table;
    const std::vector<std::size_t> strides = strides_of(table);
    const auto place = std::ranges::find(table.variables, variable) - table.variables.begin();
    const std::size_t inner = strides[at(static_cast<int>(place))], n = at(n_[at(variable)]);
    auto costs = std::make_shared<Entries>(table.costs->size());
    auto to = costs->begin();
    for (std::size_t outer = 0; outer < table.costs->size(); outer += n * inner) {
      for (std::size_t i = 0; i < inner; ++i) {
        for (std::size_t k = 0; k < n; ++k) *to++ = (*table.costs)[outer + k * inner + i];
      }
    }
    LiveTable result{table.variables, std::move(costs)};
    result.variables.erase(result.variables.begin() + place);
    result.variables.push_back(variable);
    return result;
  }

  /// Puts a table over its neighbours in the place of all tables of a variable.
  void eliminate(int variable) {
    Answer answer{variable, neighbours_of(variable), {}};
    std::vector<LiveTable> mine;
    const std::vector<std::size_t> ids = tables_of_[at(variable)];
    for (const std::size_t id : ids) {
      mine.push_back(with_last(tables_[id], variable));
      for (const int each : tables_[id].variables) std::erase(tables_of_[at(each)], id);
      tables_[id].costs = nullptr;
    }
    Entries least = least_over(mine, answer);
    if (!answer.neighbours.empty())
      add({answer.neighbours, std::make_shared<const Entries>(std::move(least))});
    for (const int each : answer.neighbours) renew_size(each);
    answers_.push_back(std::move(answer));
  }

  /// Returns the least sum of tables per choice of the neighbours, and notes whose it is. shapes: the
  /// variable is the last one of each table.
  [[nodiscard]] Entries least_over(const std::vector<LiveTable>& tables, Answer& answer) const {
    const std::size_t n = at(n_[at(answer.variable)]), n_axes = answer.neighbours.size();
    std::size_t n_entries = 1;
    for (const int each : answer.neighbours) n_entries *= at(n_[at(each)]);
    // Per table and neighbour: how far a step leads.
    std::vector<std::vector<std::size_t>> steps;
    for (const LiveTable& table : tables) {
      const std::vector<std::size_t> strides = strides_of(table);
      std::vector<std::size_t> its(n_axes, 0);
      for (std::size_t i = 0; i + 1 < strides.size(); ++i)
        its[at(static_cast<int>(std::ranges::find(answer.neighbours, table.variables[i]) -
                                answer.neighbours.begin()))] = strides[i];
      steps.push_back(std::move(its));
    }
    Entries least(n_entries), sum(n);
    answer.candidates.resize(n_entries);
    std::vector<std::size_t> index(n_axes, 0), places(tables.size(), 0);
    for (std::size_t entry = 0; entry < n_entries; ++entry) {
      std::ranges::fill(sum, 0.0);
      for (std::size_t t = 0; t < tables.size(); ++t) {
        const double* costs = tables[t].costs->data() + places[t];
        for (std::size_t k = 0; k < n; ++k) sum[k] += costs[k];
      }
      const auto best = std::ranges::min_element(sum);
      least[entry] = *best;
      answer.candidates[entry] = static_cast<std::uint16_t>(best - sum.begin());
      for (std::size_t axis = n_axes; axis-- > 0;) {
        const std::size_t extent = at(n_[at(answer.neighbours[axis])]);
        const bool wraps = ++index[axis] == extent;
        for (std::size_t t = 0; t < tables.size(); ++t)
          places[t] += wraps ? steps[t][axis] - extent * steps[t][axis] : steps[t][axis];
        if (!wraps) break;
        index[axis] = 0;
      }
    }
    return least;
  }

  /// Returns the tables of a variable, with it as the last one.
  [[nodiscard]] std::vector<LiveTable> turned_to(int variable) const {
    std::vector<LiveTable> result;
    for (const std::size_t id : tables_of_[at(variable)]) result.push_back(with_last(tables_[id], variable));
    return result;
  }

  /// Returns the candidates of a variable, those first whose tables allow least.
  [[nodiscard]] std::vector<std::size_t> by_least_costs(int variable,
                                                        const std::vector<LiveTable>& turned) const {
    const std::size_t n = at(n_[at(variable)]);
    Entries scores(n, 0.0);
    for (const LiveTable& table : turned) {
      Entries least(n, infinity);
      for (std::size_t i = 0; i < table.costs->size(); ++i)
        least[i % n] = std::min(least[i % n], (*table.costs)[i]);
      for (std::size_t k = 0; k < n; ++k) scores[k] += least[k];
    }
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t k) { return scores[k]; });
    return order;
  }

  /// Leaves these candidates of a variable alone. `turned`: its tables.
  void keep(int variable, std::vector<std::size_t> those, const std::vector<LiveTable>& turned) {
    std::ranges::sort(those);
    const std::size_t n = at(n_[at(variable)]);
    for (std::size_t t = 0; t < turned.size(); ++t) {
      auto costs = std::make_shared<Entries>();
      for (std::size_t first = 0; first < turned[t].costs->size(); first += n) {
        for (const std::size_t k : those) costs->push_back((*turned[t].costs)[first + k]);
      }
      tables_[tables_of_[at(variable)][t]] = {turned[t].variables, std::move(costs)};
    }
    std::vector<int> kept;
    for (const std::size_t k : those) kept.push_back(kept_[at(variable)][k]);
    kept_[at(variable)] = std::move(kept);
    n_[at(variable)] = static_cast<int>(those.size());
  }

  /// Leaves half of the candidates of the neighbour with most of them.
  void narrow(int variable) {
    const std::vector<int> neighbours = neighbours_of(variable);
    const int widest = *std::ranges::max_element(neighbours, {}, [&](int each) { return n_[at(each)]; });
    const std::vector<LiveTable> turned = turned_to(widest);
    std::vector<std::size_t> best = by_least_costs(widest, turned);
    best.resize((best.size() + 1) / 2);
    keep(widest, std::move(best), turned);
    for (const int each : neighbours_of(widest)) renew_size(each);
  }

  const CostGraph& graph_;
  const double most_entries_;
  std::vector<int> n_;                  ///< candidates that are left, per variable
  std::vector<std::vector<int>> kept_;  ///< which these are
  std::vector<LiveTable> tables_;
  std::vector<std::vector<std::size_t>> tables_of_;  ///< per variable that is left
  std::vector<double> sizes_;
  std::set<std::pair<double, int>> order_;
  std::vector<Answer> answers_;
};

}  // namespace

double entry_of(const CostGraph& graph, const CostTable& table, std::span<const int> candidates) {
  std::size_t place = 0;
  for (const int variable : table.variables) {
    const auto i = static_cast<std::size_t>(variable);
    place = place * static_cast<std::size_t>(graph.n_candidates[i]) + static_cast<std::size_t>(candidates[i]);
  }
  return (*table.costs)[place];
}

double cost_of(const CostGraph& graph, std::span<const int> candidates) {
  double cost = 0.0;
  for (const CostTable& table : graph.tables) cost += entry_of(graph, table, candidates);
  return cost;
}

double memory_of(const CostGraph& graph, std::span<const int> candidates) {
  double bytes = 0.0;
  for (std::size_t i = 0; i < graph.memory.size(); ++i) {
    if (!graph.memory[i].empty()) bytes += graph.memory[i][static_cast<std::size_t>(candidates[i])];
  }
  return bytes;
}

double work_of_elimination(const CostGraph& graph) {
  const std::vector<int>& n = graph.n_candidates;
  std::vector<std::set<int>> neighbours(n.size());
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  const auto connect = [&](const auto& variables) {
    for (const int each : variables) {
      neighbours[at(each)].insert(variables.begin(), variables.end());
      neighbours[at(each)].erase(each);
    }
  };
  for (const CostTable& table : graph.tables) connect(table.variables);
  std::vector<double> sizes;
  std::set<std::pair<double, int>> order;
  const auto size_of = [&](int variable) {
    double size = 1.0;
    for (const int each : neighbours[at(variable)]) size *= n[at(each)];
    return size;
  };
  for (int variable = 0; variable < std::ssize(n); ++variable) {
    sizes.push_back(size_of(variable));
    order.emplace(sizes.back(), variable);
  }
  double work = 0.0;
  while (!order.empty()) {
    const auto [size, variable] = *order.begin();
    order.erase(order.begin());
    work += size * n[at(variable)];
    connect(neighbours[at(variable)]);
    for (const int each : neighbours[at(variable)]) {
      neighbours[at(each)].erase(variable);
      order.erase({sizes[at(each)], each});
      sizes[at(each)] = size_of(each);
      order.emplace(sizes[at(each)], each);
    }
  }
  return work;
}

Choice cheapest(const CostGraph& graph, std::size_t most_entries) {
  return Elimination(graph, {}, most_entries).run();
}

Choice cheapest_of(const CostGraph& graph, const Allowed& allowed, std::size_t most_entries) {
  return Elimination(graph, allowed, most_entries).run();
}

}  // namespace lodestone::engine
