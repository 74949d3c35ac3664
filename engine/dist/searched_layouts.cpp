// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/searched_layouts.hpp"

#include "engine/dist/candidates.hpp"
#include "engine/dist/label_cuts.hpp"
#include "engine/dist/places.hpp"
#include "engine/dist/search/in_turn.hpp"
#include "engine/graph/op_info.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

namespace lodestone::engine {
namespace {

/// Numbers of layouts or boxes, by candidate of a variable. Equal lists of like instructions are one.
using Numbers = std::shared_ptr<const std::vector<int>>;

/// A value by candidate of its variable; no layouts: whole on all ranks. Without a variable there is one.
struct Held {
  int variable = -1;
  Numbers layouts = {};
};

/// An instruction by candidate of its variable.
struct Forms {
  std::vector<LabelCuts> cuts;
  std::vector<Numbers> needs;    ///< per operand: boxes
  std::vector<Numbers> results;  ///< per result: layouts
  std::vector<double> own;       ///< the price of combining terms and of repeated work
};
using FormsPtr = std::shared_ptr<const Forms>;

/// Collects forms, one way after the other.
struct FormsInWork {
  std::vector<std::vector<int>> needs, results;
  Forms forms;
  /// Appends a copy of a form that it has.
  void repeat(std::size_t i) {
    for (auto& each : needs) each.push_back(each[i]);
    for (auto& each : results) each.push_back(each[i]);
    forms.cuts.push_back(forms.cuts[i]);
    forms.own.push_back(forms.own[i]);
  }
  [[nodiscard]] FormsPtr done() {
    for (auto& each : needs) forms.needs.push_back(std::make_shared<const std::vector<int>>(std::move(each)));
    for (auto& each : results)
      forms.results.push_back(std::make_shared<const std::vector<int>>(std::move(each)));
    return std::make_shared<const Forms>(std::move(forms));
  }
};

class LayoutSearch {
 public:
  LayoutSearch(const Program& program, const DeviceMesh& mesh, const SearchTask& task)
      : program_(program), mesh_(mesh), shards_(mesh_of_shards(mesh)), task_(task), places_(shards_) {
    held_.resize(program.values().size());
    users_.resize(program.values().size());
    pinned_.resize(program.values().size());
    for (const PinnedValue& pin : task.layouts.pins) pinned_[pin.value] = pin.layout;
    (void)new_variable(1);  // for what is no choice
    fixed_ = std::make_shared<std::vector<double>>(1, 0.0);
  }

  [[nodiscard]] SearchedTable run() {
    for (ValueId id = 0; id < program_.n_inputs(); ++id) add_input(id);
    for (std::size_t i = 0; i < program_.instructions().size(); ++i) add_instruction(i);
    for (std::size_t k = 0; k < program_.outputs().size(); ++k) add_output(k);
    for (ValueId id = 0; id < users_.size(); ++id) add_tables(id);
    add_all_shared();
    graph_.tables.push_back({{0}, fixed_});
    SearchedTable result{{}, found()};
    result.table = table_of(result.found);
    return result;
  }

 private:
  /// The instructions of one variable that need a value, with the boxes that they need by candidate.
  struct User {
    int variable;
    std::vector<Numbers> needs;
  };
  /// Bytes of an element, layouts of the value, boxes of its users, and which of them have one variable.
  using TableKey = std::tuple<double, Numbers, std::vector<std::vector<Numbers>>, std::vector<int>>;
  /// The entries of a table of two users beyond which boxes that they share count twice.
  static constexpr std::size_t most_shared_entries = 50'000;
  /// The sums of an elimination beyond which they do so, too.
  static constexpr double most_work_for_shared = 2e7;

  [[nodiscard]] const Aval& aval(ValueId id) const { return program_.values()[id].aval; }
  [[nodiscard]] const Shape& shape(ValueId id) const { return aval(id).shape; }
  [[nodiscard]] double item(ValueId id) const { return static_cast<double>(core::size_of(aval(id).dtype)); }
  [[nodiscard]] bool is_array(ValueId id) const { return aval(id).kind == Kind::array; }
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] std::size_t n_candidates(int variable) const {
    return variable < 0 ? 1 : at(graph_.n_candidates[at(variable)]);
  }

  /// Returns a variable; -1 where there is nothing to choose.
  int new_variable(std::size_t n) {
    if (n == 1 && !graph_.n_candidates.empty()) return -1;
    graph_.n_candidates.push_back(static_cast<int>(n));
    graph_.memory.emplace_back();
    return static_cast<int>(graph_.n_candidates.size()) - 1;
  }

  void add_costs(int variable, const std::vector<double>& costs) {
    if (variable < 0) {
      (*fixed_)[0] += costs[0];
    } else if (std::ranges::any_of(costs, [](double cost) { return cost != 0.0; })) {
      graph_.tables.push_back({{variable}, std::make_shared<const std::vector<double>>(costs)});
    }
  }

  /// Returns a value by candidate; what has one layout depends on no variable.
  [[nodiscard]] Held held(int variable, const Numbers& layouts) const {
    if (std::ranges::any_of(*layouts, [&](int each) { return each != (*layouts)[0]; }))
      return {variable, layouts};
    if (!is_cut(places_.layout((*layouts)[0]))) return {};
    return {-1, std::make_shared<const std::vector<int>>(1, (*layouts)[0])};
  }

  void add_input(ValueId id) {
    const bool is_cell =
        std::ranges::find(task_.layouts.held_in_pieces, id) != task_.layouts.held_in_pieces.end();
    if (!is_array(id) || !(is_cell || pinned_[id])) return;
    Numbers layouts;
    if (pinned_[id]) {
      layouts = std::make_shared<const std::vector<int>>(1, places_.number_of(*pinned_[id], shape(id)));
    } else {
      Numbers& known = layouts_of_cells_[shape(id).text()];
      if (!known) {
        std::vector<int> all;
        for (const MeshLayout& each : ways_to_keep(shape(id), shards_))
          all.push_back(places_.number_of(each, shape(id)));
        known = std::make_shared<const std::vector<int>>(std::move(all));
      }
      layouts = known;
    }
    const int variable = new_variable(layouts->size());
    held_[id] = held(variable, layouts);
    if (is_cell) add_memory(variable, id, *layouts);
    if (is_cell && variable >= 0) cell_variables_.insert(variable);
  }

  /// Counts the largest piece of a cell by candidate.
  void add_memory(int variable, ValueId id, const std::vector<int>& layouts) {
    std::vector<double>& memory = graph_.memory[at(std::max(variable, 0))];
    memory.resize(n_candidates(std::max(variable, 0)));
    for (std::size_t i = 0; i < memory.size(); ++i) {
      std::int64_t most = 0;
      for (const Box& box : boxes_of(places_.layout(layouts[i]), shape(id), mesh_))
        most = std::max(most, box.count());
      memory[i] += item(id) * static_cast<double>(most);
    }
  }

  /// Returns the variable that a cheap instruction follows; -1: none, it has one of its own.
  [[nodiscard]] int leader_of(const Instruction& its) const {
    if (its.op->op_class != OpClass::elementwise && its.op->op_class != OpClass::movement) return -1;
    int leader = -1;
    for (const ValueId id : program_.operands(its)) {
      const int variable = held_[id].variable;
      if (variable >= 0 && leader >= 0 && variable != leader) return -1;
      leader = std::max(leader, variable);
    }
    for (std::uint32_t k = 0; k < its.n_results; ++k) {
      if (pinned_[its.first_result + k]) return -1;
    }
    return leader;
  }

  /// Returns a text that is the same for instructions whose forms are.
  [[nodiscard]] std::string key_of(const Instruction& its, int leader) const {
    std::string key = fmt::format("{} {} {:x}", its.op->name, its.attrs ? its.attrs->text() : "",
                                  its.attrs ? its.attrs->hash() : 0);
    for (const ValueId id : program_.operands(its))
      key += fmt::format(" {} {}", aval(id).text(),
                         leader < 0 ? nullptr : static_cast<const void*>(held_[id].layouts.get()));
    for (std::uint32_t k = 0; k < its.n_results; ++k) {
      const auto& pin = pinned_[its.first_result + k];
      key += fmt::format(" {} {}", aval(its.first_result + k).text(), pin ? text_of(*pin, shards_) : "");
    }
    return key;
  }

  void add_instruction(std::size_t i) {
    const Instruction& its = program_.instructions()[i];
    const int leader = leader_of(its);
    FormsPtr& forms = forms_known_[key_of(its, leader)];
    if (!forms) forms = leader < 0 ? forms_of_own(its) : forms_that_follow(its, n_candidates(leader));
    forms_.push_back(forms);
    const int variable = leader < 0 ? new_variable(forms->cuts.size()) : leader;
    variables_.push_back(variable);
    add_costs(variable, forms->own);
    const auto operands = program_.operands(its);
    for (std::size_t k = 0; k < operands.size(); ++k) {
      if (held_[operands[k]].layouts) add_use(operands[k], variable, forms->needs[k]);
    }
    for (std::uint32_t k = 0; k < its.n_results; ++k) {
      if (is_array(its.first_result + k)) held_[its.first_result + k] = held(variable, forms->results[k]);
    }
  }

  void add_use(ValueId id, int variable, const Numbers& needs) {
    auto known = std::ranges::find(users_[id], variable, &User::variable);
    if (known == users_[id].end()) known = users_[id].insert(known, {variable, {}});
    if (std::ranges::find(known->needs, needs) == known->needs.end()) known->needs.push_back(needs);
  }

  /// Appends a way to compute an instruction. Its results have the layouts of their pins.
  void add_form(FormsInWork& all, const Instruction& its, const AxisMap& map, WayToCut way) {
    for (std::uint32_t k = 0; k < its.n_results; ++k) {
      if (pinned_[its.first_result + k]) way.results[k] = *pinned_[its.first_result + k];
    }
    const Work work(program_, its, map, way.cuts, way.results, shards_);
    double own = repeated_operations(operations_of(program_, its), way.cuts, shards_) / operations_per_byte;
    own += task_.move_bytes * static_cast<double>(work.reduced().size());
    all.needs.resize(its.n_operands);
    all.results.resize(its.n_results);
    for (std::size_t k = 0; k < its.n_operands; ++k) all.needs[k].push_back(places_.number_of(work.needs[k]));
    for (std::uint32_t k = 0; k < its.n_results; ++k) {
      const ValueId id = its.first_result + k;
      all.results[k].push_back(is_array(id) ? places_.number_of(way.results[k], shape(id)) : 0);
      if (is_array(id))
        own += item(id) * work.combined_elements(k) +
               move(id, places_.number_of(work.gives[k]), places_.boxes_of_layout(all.results[k].back()));
    }
    all.forms.own.push_back(own);
    all.forms.cuts.push_back(std::move(way.cuts));
  }

  [[nodiscard]] double move(ValueId id, int have, int need) {
    const double elements = places_.missing_between(have, need);
    return elements > 0.0 ? item(id) * elements + task_.move_bytes : 0.0;
  }

  [[nodiscard]] FormsPtr forms_of_own(const Instruction& its) {
    const AxisMap map = axis_map_of(program_, its);
    FormsInWork all;
    for (WayToCut& way : ways_to_cut(program_, its, map, shards_)) add_form(all, its, map, std::move(way));
    for (std::uint32_t k = 0; k < its.n_results; ++k) {
      const ValueId id = its.first_result + k;
      if (!pinned_[id]) continue;
      WayToCut way{cuts_of_result(*its.op, map, k, *pinned_[id], shards_), {}};
      if (!is_cut(way.cuts)) continue;
      for (std::uint32_t j = 0; j < its.n_results; ++j)
        way.results.push_back(layout_of_result(map, j, shape(its.first_result + j), way.cuts, shards_));
      add_form(all, its, map, std::move(way));
    }
    return all.done();
  }

  /// Returns an instruction as its operands come, whatever their variable chooses.
  [[nodiscard]] FormsPtr forms_that_follow(const Instruction& its, std::size_t n) {
    const AxisMap map = axis_map_of(program_, its);
    const auto operands = program_.operands(its);
    FormsInWork all;
    std::map<std::vector<int>, std::size_t> known;
    for (std::size_t c = 0; c < n; ++c) {
      std::vector<int> layouts;
      for (const ValueId id : operands) layouts.push_back(held_[id].layouts ? layout_at(held_[id], c) : -1);
      const auto [same, is_new] = known.emplace(layouts, c);
      if (!is_new) {
        all.repeat(same->second);
        continue;
      }
      WayToCut way{LabelCuts(map.labels.size()), {}};
      for (std::size_t k = 0; k < operands.size(); ++k) {
        if (layouts[k] >= 0)
          add_cuts(way.cuts, cuts_of_operand(*its.op, map, k, places_.layout(layouts[k]), shards_));
      }
      drop_impossible(way.cuts, *its.op, map, shards_);
      for (std::uint32_t k = 0; k < its.n_results; ++k)
        way.results.push_back(layout_of_result(map, k, shape(its.first_result + k), way.cuts, shards_));
      add_form(all, its, map, std::move(way));
    }
    return all.done();
  }

  [[nodiscard]] static int layout_at(const Held& held, std::size_t candidate) {
    return (*held.layouts)[held.variable < 0 ? 0 : candidate];
  }

  void add_output(std::size_t k) {
    const ValueId id = program_.outputs()[k];
    if (!is_array(id)) return;
    if (k < task_.n_results) {
      if (held_[id].layouts) add_use(id, -1, boxes_of_cell(id, {}));
      return;
    }
    const auto cell = std::ranges::find(task_.layouts.cells, id, &std::pair<ValueId, ValueId>::second);
    if (cell == task_.layouts.cells.end()) {  // it is assigned alone, and keeps the layout in which it arises
      const int whole = places_.number_of(whole_layout(shape(id).rank(), shards_), shape(id));
      add_memory(held_[id].variable, id, held_[id].layouts ? *held_[id].layouts : std::vector<int>{whole});
    } else if (held_[id].layouts) {
      const Held& before = held_[cell->first];
      add_use(id, before.variable, boxes_of_cell(id, before));
    }
  }

  /// Returns the boxes of a cell by candidate; all of it where it has no layouts.
  [[nodiscard]] Numbers boxes_of_cell(ValueId id, const Held& cell) {
    std::vector<int> boxes;
    if (!cell.layouts)
      boxes.push_back(places_.number_of(Boxes(shards_.ranks().size(), Box::whole(shape(id)))));
    for (std::size_t i = 0; cell.layouts && i < cell.layouts->size(); ++i)
      boxes.push_back(places_.boxes_of_layout((*cell.layouts)[i]));
    return std::make_shared<const std::vector<int>>(std::move(boxes));
  }

  /// Adds what it costs to bring a value to the boxes that its users need: each variable pays for its own.
  void add_tables(ValueId id) {
    for (const User& each : users_[id]) add_table(graph_, id, {each}, 1.0);
  }

  /// Takes off again what neighbours in the list of users share, as a value moves to the same boxes once. So
  /// the price is exact for two variables, and for more it is no less than due.
  void add_shared(CostGraph& graph, ValueId id) {
    const std::vector<User>& users = users_[id];
    for (std::size_t i = 1; i < users.size(); ++i) {
      if (n_entries(id, users[i - 1], users[i]) <= most_shared_entries)
        add_table(graph, id, {users[i - 1], users[i]}, -1.0);
    }
  }

  /// Counts moves of a value to the same boxes once, as far as tables then stay small: of all values, else of
  /// those that depend on a cell alone, else of none.
  void add_all_shared() {
    const double most = std::max(most_work_for_shared,
                                 std::min(2.0 * work_of_elimination(graph_), 10.0 * most_work_for_shared));
    for (const bool of_cells : {false, true}) {
      CostGraph more = graph_;
      for (ValueId id = 0; id < held_.size(); ++id) {
        if (!of_cells || cell_variables_.contains(held_[id].variable)) add_shared(more, id);
      }
      if (work_of_elimination(more) > most) continue;
      graph_ = std::move(more);
      shared_ = of_cells ? "cells" : "all values";
      return;
    }
  }

  [[nodiscard]] std::size_t n_entries(ValueId id, const User& a, const User& b) const {
    return n_candidates(held_[id].variable) * n_candidates(a.variable) * n_candidates(b.variable);
  }

  /// Adds what it costs to bring a value to the boxes that all of these users need.
  void add_table(CostGraph& graph, ValueId id, const std::vector<User>& users, double sign) {
    std::vector<int> variables;  // each once
    TableKey key{item(id) * sign, held_[id].layouts, {}, {}};
    const auto place_of = [&](int variable) {
      if (variable < 0) return -1;
      const auto known = std::ranges::find(variables, variable);
      const auto place = static_cast<int>(known - variables.begin());
      if (known == variables.end()) variables.push_back(variable);
      return place;
    };
    std::get<3>(key).push_back(place_of(held_[id].variable));
    for (const User& each : users) {
      std::get<3>(key).push_back(place_of(each.variable));
      std::get<2>(key).push_back(each.needs);
    }
    auto& known = tables_known_[key];
    if (!known) known = costs_of(id, variables, key, sign);
    if (variables.empty()) {
      (*fixed_)[0] += (*known)[0];
    } else if (std::ranges::any_of(*known, [](double cost) { return cost != 0.0; })) {
      graph.tables.push_back({variables, known});
    }
  }

  [[nodiscard]] std::shared_ptr<const std::vector<double>> costs_of(ValueId id,
                                                                    const std::vector<int>& variables,
                                                                    const TableKey& key, double sign) {
    const auto& [_, layouts, needs, places] = key;
    std::vector<std::size_t> choice(variables.size(), 0);
    const auto chosen = [&](int place) { return place < 0 ? 0 : choice[at(place)]; };
    std::vector<double> costs;
    for (;;) {
      const int have = places_.boxes_of_layout((*layouts)[chosen(places[0])]);
      double cost = 0.0;
      for (const int need : boxes_of_all(needs, [&](std::size_t k) { return chosen(places[k + 1]); }))
        cost += sign * move(id, have, need);
      costs.push_back(cost);
      std::size_t k = choice.size();
      while (k > 0 && ++choice[k - 1] == n_candidates(variables[k - 1])) choice[--k] = 0;
      if (k == 0) return std::make_shared<const std::vector<double>>(std::move(costs));
    }
  }

  /// Returns the boxes that each user needs, as each of its instructions does.
  [[nodiscard]] static std::set<int> boxes_of_all(const std::vector<std::vector<Numbers>>& needs,
                                                  const auto& chosen) {
    std::set<int> all;
    for (const Numbers& each : needs[0]) all.insert((*each)[chosen(0)]);
    for (std::size_t k = 1; k < needs.size(); ++k) {
      std::set<int> both;
      for (const Numbers& each : needs[k]) {
        if (all.contains((*each)[chosen(k)])) both.insert((*each)[chosen(k)]);
      }
      all = std::move(both);
    }
    return all;
  }

  [[nodiscard]] FittingChoice found() {
    is_in_turn_ = mesh_.n_axes() > 1 && work_of_elimination(graph_) > task_.most_work;
    std::vector<int> start(graph_.n_candidates.size(), 0);  // whole
    for (std::size_t i = 0; i < start.size() && task_.memory_bytes > 0.0; ++i) {
      const std::vector<double>& its = graph_.memory[i];
      if (!its.empty()) start[i] = static_cast<int>(std::ranges::min_element(its) - its.begin());
    }
    const RolesOfAxes roles = is_in_turn_ ? roles_of_axes() : RolesOfAxes();
    const auto solve = [&](const CostGraph& graph) {
      return is_in_turn_ ? cheapest_in_turn(graph, roles, start, task_.most_entries, task_.most_work)
                         : cheapest(graph, task_.most_entries);
    };
    if (task_.memory_bytes > 0.0) return cheapest_within(graph_, task_.memory_bytes, solve);
    FittingChoice all{solve(graph_), 0.0, 0.0, 0.0};
    all.memory = memory_of(graph_, all.choice.candidates);
    all.bound = all.choice.cost;
    return all;
  }

  /// Returns what each mesh axis does by variable and candidate: which labels or axes it cuts.
  [[nodiscard]] RolesOfAxes roles_of_axes() const {
    RolesOfAxes roles(graph_.n_candidates.size());
    const auto note = [&](std::vector<std::string>& its, const std::vector<Cut>& cuts) {
      for (std::size_t i = 0; i < cuts.size(); ++i) {
        for (const Dim axis : cuts[i].axes) its[static_cast<std::size_t>(axis)] += fmt::format(" {}", i);
      }
      for (std::string& each : its) each += ';';
    };
    const auto none = std::vector<std::string>(static_cast<std::size_t>(mesh_.n_axes()));
    for (std::size_t i = 0; i < roles.size(); ++i) roles[i].assign(at(graph_.n_candidates[i]), none);
    for (ValueId id = 0; id < program_.n_inputs(); ++id) {
      if (held_[id].variable < 0) continue;
      for (std::size_t c = 0; c < n_candidates(held_[id].variable); ++c)
        note(roles[at(held_[id].variable)][c], places_.layout(layout_at(held_[id], c)).cuts);
    }
    std::set<int> known(cell_variables_);
    for (std::size_t i = 0; i < forms_.size(); ++i) {
      if (variables_[i] < 0 || !known.insert(variables_[i]).second)
        continue;  // what follows has the same roles
      const Instruction& its = program_.instructions()[i];
      for (std::size_t c = 0; c < n_candidates(variables_[i]); ++c) {
        note(roles[at(variables_[i])][c], forms_[i]->cuts[c]);
        for (std::uint32_t k = 0; k < its.n_results; ++k) {
          if (is_array(its.first_result + k))
            note(roles[at(variables_[i])][c], places_.layout((*forms_[i]->results[k])[c]).cuts);
        }
      }
    }
    return roles;
  }

  [[nodiscard]] LayoutTable table_of(const FittingChoice& found) const {
    const auto chosen = [&](int variable) {
      return variable < 0 ? 0 : at(found.choice.candidates[at(variable)]);
    };
    LayoutTable table;
    for (ValueId id = 0; id < held_.size(); ++id)
      table.values.push_back(held_[id].layouts
                                 ? places_.layout(layout_at(held_[id], chosen(held_[id].variable)))
                                 : whole_layout(shape(id).rank(), mesh_));
    for (std::size_t i = 0; i < forms_.size(); ++i) {
      table.labels.push_back(forms_[i]->cuts[chosen(variables_[i])]);
      table.reasons.push_back(fmt::format("searched, {:.0f} B", forms_[i]->own[chosen(variables_[i])]));
    }
    for (ValueId id = 0; id < program_.n_inputs(); ++id) {
      if (!held_[id].layouts && is_array(id)) table.values[id] = layout_of_uses(id, table);
    }
    table.search = report(found);
    return table;
  }

  /// Returns the layout in which all instructions take an input that is whole on all ranks, if it is one.
  [[nodiscard]] MeshLayout layout_of_uses(ValueId id, const LayoutTable& table) const {
    std::optional<MeshLayout> all;
    for (std::size_t i = 0; i < forms_.size(); ++i) {
      const Instruction& its = program_.instructions()[i];
      const auto operands = program_.operands(its);
      for (std::size_t k = 0; k < operands.size(); ++k) {
        if (operands[k] != id) continue;
        const MeshLayout layout =
            layout_of_operand(axis_map_of(program_, its), k, shape(id), table.labels[i], mesh_);
        if (all && !same_places(*all, layout, shape(id), shards_))
          return whole_layout(shape(id).rank(), mesh_);
        all = layout;
      }
    }
    return all ? *all : whole_layout(shape(id).rank(), mesh_);
  }

  [[nodiscard]] std::string report(const FittingChoice& found) const {
    std::string text = fmt::format(
        "searched {} variables of up to {} candidates, largest table {} entries, {}; shards receive {:.0f} "
        "B, "
        "repeated work included, with equal moves of {} counted once; cells take {:.0f} B on a rank",
        graph_.n_candidates.size() - 1, *std::ranges::max_element(graph_.n_candidates),
        found.choice.largest_table,
        is_in_turn_               ? std::string("axes of the mesh in turn")
        : found.choice.is_exact() ? std::string("no candidate left out")
                                  : fmt::format("candidates left out {} times", found.choice.n_narrowed),
        found.choice.cost, shared_, found.memory);
    if (found.price > 0.0)
      text += fmt::format(" of {:.0f} B, at most {:.0f} B above the cheapest that fits", task_.memory_bytes,
                          found.choice.cost - found.bound);
    return text;
  }

  const Program& program_;
  const DeviceMesh& mesh_;
  const DeviceMesh shards_;
  const SearchTask& task_;
  Places places_;
  CostGraph graph_;
  std::shared_ptr<std::vector<double>> fixed_;  ///< costs that no choice changes
  std::set<int> cell_variables_;
  bool is_in_turn_ = false;
  std::vector<Held> held_;
  std::vector<std::optional<MeshLayout>> pinned_;
  std::vector<FormsPtr> forms_;  ///< per instruction
  std::vector<int> variables_;   ///< likewise
  std::map<std::string, FormsPtr> forms_known_;
  std::map<std::string, Numbers> layouts_of_cells_;
  std::vector<std::vector<User>> users_;  ///< per value
  std::string shared_ = "none";           ///< the values of which equal moves count once
  std::map<TableKey, std::shared_ptr<const std::vector<double>>> tables_known_;
};

}  // namespace

SearchedTable searched(const Program& program, const DeviceMesh& mesh, const SearchTask& task) {
  check_for_one_machine(program);
  return LayoutSearch(program, mesh, task).run();
}

double price_of(const CutProgram& cut) {
  CutProgram on_shards = cut;
  on_shards.mesh = mesh_of_shards(cut.mesh);
  const Movement movement = movement_of(on_shards);
  auto price = static_cast<double>(
      std::accumulate(movement.instructions.begin(), movement.instructions.end(), movement.outputs));
  const auto& instructions = cut.program.instructions();
  for (std::size_t i = 0; i < instructions.size(); ++i)
    price += repeated_operations(operations_of(cut.program, instructions[i]), cut.table.labels[i],
                                 on_shards.mesh) /
             operations_per_byte;
  return price;
}

}  // namespace lodestone::engine
