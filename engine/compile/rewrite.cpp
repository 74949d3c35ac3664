// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/rewrite.hpp"

#include "engine/compile/number_of.hpp"
#include "engine/graph/op_info.hpp"
#include "engine/program/rebuilt.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <unordered_map>

namespace lodestone::engine {
namespace {

/// Goes over the instructions in their order.
class Rewriting {
 public:
  explicit Rewriting(const Program& program)
      : program_(program),
        stands_for_(program.values().size()),
        view_(program, stands_for_),
        rebuilt_(program) {
    std::iota(stands_for_.begin(), stands_for_.end(), ValueId{0});
  }
  [[nodiscard]] Rewritten run();

 private:
  [[nodiscard]] bool apply_rules(const Instruction& each);
  [[nodiscard]] bool occurs_again(const Instruction& each);
  [[nodiscard]] bool same(const Instruction& a, const Instruction& b) const;
  void replace(ValueId old, ValueId by) {
    stands_for_[old] = by;
    rebuilt_.replace(old, rebuilt_.of(by));
  }

  const Program& program_;
  std::vector<ValueId> stands_for_;  // by value: that which it is known to be
  RewriteView view_;
  Rebuilt rebuilt_;
  std::unordered_multimap<std::uint64_t, const Instruction*> seen_;
  std::map<std::string_view, int> applied_;
};

bool Rewriting::apply_rules(const Instruction& each) {
  for (const ExactRule& rule : exact_rules()) {
    if (std::ranges::find(rule.ops, each.op) == rule.ops.end()) continue;
    const auto value = rule.apply(view_, each);
    if (!value) continue;
    replace(each.first_result, *value);
    ++applied_[rule.name];
    return true;
  }
  return false;
}

bool Rewriting::same(const Instruction& a, const Instruction& b) const {
  if (a.op != b.op || a.n_operands != b.n_operands) return false;
  if (static_cast<bool>(a.attrs) != static_cast<bool>(b.attrs) || (a.attrs && !a.attrs->equals(*b.attrs)))
    return false;
  for (std::size_t i = 0; i < a.n_operands; ++i) {
    if (view_.operand(a, i) != view_.operand(b, i)) return false;
  }
  return true;
}

bool Rewriting::occurs_again(const Instruction& each) {
  if (each.is_effect || each.op->run) return false;
  std::uint64_t hash =
      detail::mixed(std::bit_cast<std::uintptr_t>(each.op), each.attrs ? each.attrs->hash() : 0);
  for (std::size_t i = 0; i < each.n_operands; ++i) hash = detail::mixed(hash, view_.operand(each, i));
  const auto [first, last] = seen_.equal_range(hash);
  for (auto at = first; at != last; ++at) {
    const Instruction& before = *at->second;
    if (!same(before, each)) continue;
    for (std::uint32_t i = 0; i < each.n_results; ++i)
      replace(each.first_result + i, before.first_result + i);
    ++applied_["occurs again"];
    return true;
  }
  seen_.emplace(hash, &each);
  return false;
}

Rewritten Rewriting::run() {
  for (const Instruction& each : program_.instructions()) {
    if (!apply_rules(each) && !occurs_again(each)) rebuilt_.copy(each);
  }
  return {applied_.empty() ? program_ : rebuilt_.program(), std::move(applied_)};
}

}  // namespace

const Instruction* RewriteView::producer(ValueId id) const {
  const Value& value = program_.values()[id];
  return value.from == Value::From::result ? &program_.instructions()[value.of] : nullptr;
}

bool RewriteView::is_dense(ValueId id) const {
  const Instruction* from = producer(id);
  return from != nullptr && from->op->view == nullptr && !from->op->run;
}

std::optional<std::array<std::byte, 16>> RewriteView::number(ValueId id) const {
  return number_of(program_, id);
}

Rewritten rewritten(const Program& program) { return Rewriting(program).run(); }

}  // namespace lodestone::engine
