// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/recompute.hpp"

#include "engine/compile/cost.hpp"
#include "engine/graph/op_info.hpp"
#include "engine/program/rebuilt.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lodestone::engine {
namespace {

constexpr std::uint32_t never = LiveBytes::never;

/// Returns the nanoseconds of an instruction at some rates of one thread.
double work_of(const Program& program, const Instruction& each) {
  constexpr double flops_per_ns = 20.0, bytes_per_ns = 8.0;
  std::vector<const Aval*> in;
  double bytes = 0.0;
  for (const ValueId id : program.operands(each)) {
    in.push_back(&program.values()[id].aval);
    bytes += static_cast<double>(in.back()->bytes());
  }
  for (ValueId id = each.first_result; id < each.first_result + each.n_results; ++id)
    bytes += static_cast<double>(program.values()[id].aval.bytes());
  const Aval& out = program.values()[each.first_result].aval;
  return flops_of(*each.op, each.attrs.get(), in, out, each.where) / flops_per_ns + bytes / bytes_per_ns;
}

/// Returns the lives of what stands in the blocks of a plan.
LiveBytes lives_in(const Program& program, const Lowered& plan) {
  std::vector<bool> is_held(plan.roots.size(), false);
  for (const Held& each : plan.held) is_held[each.value] = true;
  return {program, plan.roots, is_held};
}

}  // namespace

/// An instruction at a place in the new program; `is_again`: not for the first time.
struct Recomputation::Item {
  std::uint32_t instruction;
  bool is_again;
};

Recomputation::Recomputation(const Program& program, std::span<const Strides> inputs, Level level)
    : program_(program),
      inputs_(inputs.begin(), inputs.end()),
      level_(level),
      lives_(lives_in(program, unplaced(program, inputs, level))),
      fullest_(lives_.fullest()) {
  for (const Instruction& each : program.instructions()) work_.push_back(work_of(program, each));
  find_candidates();
}

void Recomputation::find_candidates() {
  is_gone_.assign(program_.values().size(), false);
  std::vector<double> work(program_.values().size(), 0.0);  // by root, with what is gone before it
  for (std::uint32_t number = 0; number < fullest_; ++number) {
    const Instruction& each = program_.instructions()[number];
    if (!is_repeatable(each)) continue;
    double of_all = work_[number];
    for (const ValueId id : program_.operands(each))
      of_all += is_gone_[lives_.root(id)] ? work[lives_.root(id)] : 0.0;
    for (ValueId id = each.first_result; id < each.first_result + each.n_results; ++id) {
      if (lives_.first(id) == never) continue;
      work[id] = of_all;
      is_gone_[id] = lives_.last(id) <= fullest_;
      const std::size_t bytes = program_.values()[id].aval.bytes();
      if (!is_gone_[id] && bytes > 0) candidates_.push_back({id, number, bytes, of_all});
    }
  }
}

// ---- The new program -------------------------------------------------------------------------------------

bool Recomputation::is_made_again(ValueId id, const std::vector<bool>& missing) const {
  const Value& value = program_.values()[id];
  return value.from == Value::From::result && value.of < fullest_ && missing[lives_.root(id)];
}

/// Returns, by root, what is not there behind the fullest moment unless it is made again.
std::vector<bool> Recomputation::missing(const Forgotten& forgotten) const {
  std::vector<bool> missing = is_gone_;
  for (std::size_t i = 0; i < candidates_.size(); ++i) missing[candidates_[i].value] = forgotten[i];
  return missing;
}

/// Returns the instructions that run: those needed, in their old order, and each one that runs again before
/// the first that needs it.
std::vector<Recomputation::Item> Recomputation::items(const std::vector<bool>& missing) const {
  std::vector<Item> result;
  std::vector<bool> is_there(program_.instructions().size(), false);
  std::vector<std::uint32_t> path;
  const auto next_missing = [&](std::uint32_t number) {
    for (const ValueId id : program_.operands(program_.instructions()[number])) {
      const std::uint32_t maker = program_.values()[id].of;
      if (is_made_again(id, missing) && !is_there[maker]) return maker;
    }
    return never;
  };
  for (std::uint32_t number = 0; number < program_.instructions().size(); ++number) {
    if (number > fullest_) path.push_back(number);
    while (!path.empty()) {
      if (const std::uint32_t next = next_missing(path.back()); next != never) {
        path.push_back(next);
        continue;
      }
      if (path.back() != number) result.push_back({path.back(), true});
      is_there[path.back()] = true;
      path.pop_back();
    }
    result.push_back({number, false});
  }
  leave_out_unneeded(result, missing);
  return result;
}

/// Removes instructions without effect that only forgotten uses had.
void Recomputation::leave_out_unneeded(std::vector<Item>& items, const std::vector<bool>& missing) const {
  std::vector<bool> needed(program_.values().size(), false), needed_again(program_.values().size(), false);
  for (const ValueId id : program_.outputs()) needed[id] = true;
  const auto is_unneeded = [&](const Item& item) {
    const Instruction& each = program_.instructions()[item.instruction];
    const std::vector<bool>& list = item.is_again ? needed_again : needed;
    bool is_used = each.is_effect && !item.is_again;
    for (ValueId id = each.first_result; id < each.first_result + each.n_results; ++id)
      is_used = is_used || list[id];
    if (!is_used) return true;
    const bool is_behind = item.is_again || item.instruction > fullest_;
    for (const ValueId id : program_.operands(each))
      (is_behind && is_made_again(id, missing) ? needed_again : needed)[id] = true;
    return false;
  };
  std::vector<Item> kept;
  for (auto item = items.rbegin(); item != items.rend(); ++item) {
    if (!is_unneeded(*item)) kept.push_back(*item);
  }
  items.assign(kept.rbegin(), kept.rend());
}

Program Recomputation::without(const Forgotten& forgotten) const {
  const std::vector<bool> missing = this->missing(forgotten);
  Rebuilt rebuilt(program_);
  std::vector<ValueId> again(program_.values().size());  // those of what runs again
  for (const Item& item : items(missing)) {
    const Instruction& each = program_.instructions()[item.instruction];
    const bool is_behind = item.is_again || item.instruction > fullest_;
    std::vector<ValueId> operands;
    std::vector<Aval> results;
    for (const ValueId id : program_.operands(each))
      operands.push_back(is_behind && is_made_again(id, missing) ? again[id] : rebuilt.of(id));
    for (std::uint32_t i = 0; i < each.n_results; ++i)
      results.push_back(program_.values()[each.first_result + i].aval);
    const ValueId first = rebuilt.add(each, operands, results);
    for (std::uint32_t i = 0; i < each.n_results; ++i) {
      if (item.is_again) {
        again[each.first_result + i] = first + i;
      } else {
        rebuilt.replace(each.first_result + i, first + i);
      }
    }
  }
  return rebuilt.program();
}

// ---- The choice ------------------------------------------------------------------------------------------

double Recomputation::work(const Program& program) {
  double ns = 0.0;
  for (const Instruction& each : program.instructions()) ns += work_of(program, each);
  return ns;
}

/// Forgets the candidates of at most this work per byte, but for the last of each so many bytes of them.
Recomputation::Forgotten Recomputation::in_segments(double most_work_per_byte, std::size_t bytes) const {
  Forgotten forgotten(candidates_.size(), false);
  std::size_t in_segment = 0;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    const Candidate& each = candidates_[i];
    if (each.work > most_work_per_byte * static_cast<double>(each.bytes)) continue;
    in_segment += each.bytes;
    forgotten[i] = in_segment <= bytes;
    if (!forgotten[i]) in_segment = 0;
  }
  return forgotten;
}

/// Keeps as many of them as the budget has room for, in sixteen portions, those with the most work first.
Recomputation::Forgotten Recomputation::given_back(Forgotten forgotten, std::size_t budget) const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    if (forgotten[i]) order.push_back(i);
  }
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return candidates_[a].work > candidates_[b].work; });
  constexpr std::size_t most_portions = 16;
  const std::size_t portion = std::max<std::size_t>(order.size() / most_portions, 1);
  for (std::size_t first = 0; first < order.size(); first += portion) {
    Forgotten fewer = forgotten;
    for (std::size_t i = first; i < std::min(first + portion, order.size()); ++i) fewer[order[i]] = false;
    if (block_bytes(without(fewer), budget) <= budget) forgotten = std::move(fewer);
  }
  return forgotten;
}

/// Returns the choices of lengths and costs on a grid, those with the least work first.
std::vector<Recomputation::Choice> Recomputation::choices() const {
  std::vector<double> costs;
  std::size_t all_bytes = 0;
  for (const Candidate& each : candidates_) {
    costs.push_back(each.work / static_cast<double>(each.bytes));
    all_bytes += each.bytes;
  }
  std::ranges::sort(costs);
  std::vector<Choice> result;
  constexpr int n_costs = 6, n_lengths = 20;
  for (int cost = 1; cost <= n_costs && !costs.empty(); ++cost) {
    const double most = costs[(costs.size() - 1) * static_cast<std::size_t>(cost) / n_costs];
    for (int length = 0; length < n_lengths; ++length) {
      const double share = std::exp2(-0.5 * length);
      Forgotten choice = in_segments(most, static_cast<std::size_t>(share * static_cast<double>(all_bytes)));
      if (std::ranges::find(result, choice, &Choice::forgotten) != result.end()) continue;
      double work = 0.0;
      for (const Item& item : items(missing(choice))) work += work_[item.instruction];
      result.push_back({std::move(choice), work});
    }
  }
  std::ranges::stable_sort(result, {}, &Choice::work);
  return result;
}

/// Returns the bytes of the smallest block of these choices and of the program as it is.
std::size_t Recomputation::smallest(const std::vector<Choice>& choices) const {
  std::size_t smallest = block_bytes(program_);
  for (const Choice& each : choices)
    smallest = std::min(smallest, block_bytes(without(each.forgotten), smallest));
  return smallest;
}

Recomputation::Forgotten Recomputation::within(std::size_t budget) const {
  std::vector<Choice> choices = this->choices();
  for (Choice& each : choices) {
    if (block_bytes(without(each.forgotten), budget) <= budget)
      return given_back(std::move(each.forgotten), budget);
  }
  throw BudgetTooSmall("engine::compile#budget_too_small",
                       "expected a budget of at least {} bytes for what lives within a call, the smallest "
                       "that recomputation reaches, got {}; raise it or use a smaller batch",
                       smallest(choices), budget);
}

Program within_budget(Program program, std::span<const Strides> inputs, std::size_t budget, Level level) {
  const Recomputation recomputation(program, inputs, level);
  if (recomputation.block_bytes(program, budget) <= budget) return program;
  return recomputation.without(recomputation.within(budget));
}

}  // namespace lodestone::engine
