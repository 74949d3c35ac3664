// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/rewrite.hpp"

#include "engine/compile/number_of.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/constant.hpp"

#include <algorithm>
#include <bit>

namespace lodestone::engine {
namespace {

/// Returns a program without instructions that nobody needs.
Program with_needed(const Program& program) {
  std::vector<bool> is_needed(program.values().size(), false);
  for (const ValueId id : program.outputs()) is_needed[id] = true;
  const auto runs = [&](const Instruction& each) {
    const auto first = is_needed.begin() + each.first_result;
    return each.is_effect || std::find(first, first + each.n_results, true) != first + each.n_results;
  };
  for (auto each = program.instructions().rbegin(); each != program.instructions().rend(); ++each) {
    if (!runs(*each)) continue;
    for (const ValueId id : program.operands(*each)) is_needed[id] = true;
  }
  Rebuilt rebuilt(program);
  for (const Instruction& each : program.instructions()) {
    if (runs(each)) rebuilt.copy(each);
  }
  return rebuilt.program();
}

bool same_attrs(const AttrsPtr& a, const AttrsPtr& b) {
  return a && b ? a->equals(*b) : static_cast<bool>(a) == static_cast<bool>(b);
}

}  // namespace

RuleTable::RuleTable(std::initializer_list<std::span<const RewriteRule>> lists) {
  for (const std::span<const RewriteRule> list : lists) {
    for (const RewriteRule& each : list) {
      for (const OpInfo* op : each.ops) rules_[op].push_back(each);
    }
  }
}

const RuleTable& RuleTable::exact() {
  static const RuleTable table{exact_rules(), movement_rules()};
  return table;
}

const RuleTable& RuleTable::fast() {
  static const RuleTable table{exact_rules(), movement_rules(), fast_rules()};
  return table;
}

std::span<const RewriteRule> RuleTable::of(const OpInfo* op) const {
  const auto at = rules_.find(op);
  return at == rules_.end() ? std::span<const RewriteRule>() : at->second;
}

Rewriter::Rewriter(const Program& program, const RuleTable& rules)
    : program_(program), rules_(rules), rebuilt_(program), may_be_strided_(program.values().size(), true) {
  find_strided();
}

/// Finds the values that elementwise ops alone take.
void Rewriter::find_strided() {
  for (const ValueId id : program_.outputs()) may_be_strided_[id] = false;
  for (const Instruction& each : program_.instructions()) {
    const bool is_elementwise =
        each.op->op_class == OpClass::elementwise && each.op->view == nullptr && !each.op->run;
    if (is_elementwise) continue;
    for (const ValueId id : program_.operands(each)) may_be_strided_[id] = false;
  }
}

std::optional<ValueId> Rewriter::by_rules(const NextInstruction& next) {
  for (const RewriteRule& rule : rules_.of(next.op)) {
    const auto value = rule.apply(*this, next);
    if (!value) continue;
    ++applied_[rule.name];
    return value;
  }
  return std::nullopt;
}

/// Returns the result of an equal instruction from before.
std::optional<ValueId> Rewriter::known(std::uint64_t hash, const NextInstruction& next) {
  const auto [first, last] = known_.equal_range(hash);
  for (auto at = first; at != last; ++at) {
    const Known& before = at->second;
    const bool fits = before.op == next.op && std::ranges::equal(before.operands, next.operands) &&
                      same_attrs(before.attrs, next.attrs) && (next.may_be_strided || !before.is_strided);
    if (!fits) continue;
    ++applied_["occurs again"];
    return before.result;
  }
  return std::nullopt;
}

/// Returns the first result of an instruction: one that is there, what rules make of it, or its own.
ValueId Rewriter::next_result(Instruction made, const std::vector<ValueId>& operands,
                              std::span<const Aval> results, bool may_be_strided) {
  if (made.is_effect || made.op->run) return rebuilt_.add(std::move(made), operands, results);
  std::uint64_t hash =
      detail::mixed(std::bit_cast<std::uintptr_t>(made.op), made.attrs ? made.attrs->hash() : 0);
  for (const ValueId id : operands) hash = detail::mixed(hash, id);
  const NextInstruction next{made.op, made.attrs, operands, results[0], may_be_strided, made.where};
  if (const auto value = known(hash, next)) return *value;
  const auto by_rule = results.size() == 1 ? by_rules(next) : std::nullopt;
  const ValueId result = by_rule ? *by_rule : rebuilt_.add(made, operands, results);
  known_.emplace(hash, Known{made.op, made.attrs, operands, result, by_rule && may_be_strided});
  return result;
}

ValueId Rewriter::added(const std::source_location& where, const OpInfo& op, AttrsPtr attrs,
                        const std::vector<ValueId>& operands, Aval result, bool may_be_strided) {
  Instruction made{};
  made.op = &op;
  made.attrs = std::move(attrs);
  made.where = where;
  return next_result(std::move(made), operands, std::span(&result, 1), may_be_strided);
}

ValueId Rewriter::add_number(const NextInstruction& next, const std::array<std::byte, 16>& element,
                             const Aval& result) {
  static const OpInfo& broadcast = op_named("broadcast_to");
  const ValueId one = one_of_equals(rebuilt_.add_constant(literal({element, result.dtype, result.device})));
  if (result.shape.rank() == 0) return one;
  return add(next, broadcast, make_attrs(ShapeAttrs{result.shape}), {one}, result);
}

/// Returns the first of the constants that show the same number in the same places.
ValueId Rewriter::one_of_equals(ValueId id) {
  const auto element = producer(id) == nullptr ? number(id) : std::nullopt;
  if (!element) return id;
  for (const ValueId known : numbers_) {
    if (aval(known) == aval(id) && number(known) == element) return known;
  }
  numbers_.push_back(id);
  return id;
}

Rewritten Rewriter::run() {
  for (const Instruction& each : program_.instructions()) {
    std::vector<ValueId> operands;
    std::vector<Aval> results;
    for (const ValueId id : program_.operands(each)) operands.push_back(one_of_equals(rebuilt_.of(id)));
    for (std::uint32_t i = 0; i < each.n_results; ++i)
      results.push_back(program_.values()[each.first_result + i].aval);
    const bool may_be_strided = each.n_results == 1 && may_be_strided_[each.first_result];
    const ValueId first = next_result(each, operands, results, may_be_strided);
    for (std::uint32_t i = 0; i < each.n_results; ++i) rebuilt_.replace(each.first_result + i, first + i);
  }
  return {applied_.empty() ? program_ : with_needed(rebuilt_.program()), std::move(applied_)};
}

const Instruction* Rewriter::producer(ValueId id) const {
  const Value& value = rebuilt_.parts().values[id];
  return value.from == Value::From::result ? &rebuilt_.parts().instructions[value.of] : nullptr;
}

const Instruction* Rewriter::producer(ValueId id, const OpInfo* op) const {
  const Instruction* const each = producer(id);
  return each != nullptr && each->op == op ? each : nullptr;
}

bool Rewriter::is_dense(ValueId id) const {
  const Instruction* from = producer(id);
  return from != nullptr && from->op->view == nullptr && !from->op->run;
}

std::optional<std::array<std::byte, 16>> Rewriter::number(ValueId id) const {
  return number_of(rebuilt_.parts(), id);
}

Rewritten rewritten(const Program& program, const RuleTable& rules) { return Rewriter(program, rules).run(); }

}  // namespace lodestone::engine
