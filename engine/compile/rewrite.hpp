// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: shorter programs with the same bits.
#pragma once

#include "engine/program/rebuilt.hpp"

#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

namespace lodestone::engine {

/// An instruction that is about to be added to a program. Its operands are values of that.
struct NextInstruction {
  const OpInfo* op;
  const AttrsPtr& attrs;
  std::span<const ValueId> operands;
  const Aval& aval;  // of its first result
  /// Elementwise ops alone take the result, so that it may lie in memory in another way.
  bool may_be_strided;
  const std::source_location& where;
};

class Rewriter;

/// A reason why the result of an instruction is a value that is there already, or that cheaper ones give.
struct RewriteRule {
  std::string_view name;
  /// Returns that value for instructions of these ops, or none.
  std::optional<ValueId> (*apply)(Rewriter& program, const NextInstruction& next);
  std::vector<const OpInfo*> ops;
};
/// Returns the rules that keep every bit, of NaN only that it is one: those of numbers, and those of views.
[[nodiscard]] std::span<const RewriteRule> exact_rules();
[[nodiscard]] std::span<const RewriteRule> movement_rules();
/// Returns the liberties of fast mode; docs/engine/compile.md has their errors.
[[nodiscard]] std::span<const RewriteRule> fast_rules();

/// Rules by op, those of an op in the order in which they are tried.
class RuleTable {
 public:
  explicit RuleTable(std::initializer_list<std::span<const RewriteRule>> lists);
  /// Returns those that keep every bit.
  [[nodiscard]] static const RuleTable& exact();
  /// Returns these and the liberties of fast mode.
  [[nodiscard]] static const RuleTable& fast();
  [[nodiscard]] std::span<const RewriteRule> of(const OpInfo* op) const;

 private:
  std::unordered_map<const OpInfo*, std::vector<RewriteRule>> rules_;
};

/// Number of times that rules applied, by name.
using AppliedRules = std::map<std::string_view, int>;

struct Rewritten {
  Program program;
  AppliedRules applied;
};

/// A program in the making: the instructions of another one in their order, each as rules leave it.
class Rewriter {
 public:
  Rewriter(const Program& program, const RuleTable& rules);
  [[nodiscard]] Rewritten run();

  // For rules. What they look at is the new program.
  [[nodiscard]] const Aval& aval(ValueId id) const { return rebuilt_.parts().values[id].aval; }
  /// Returns the instruction that gives a value, or null; good until one is added.
  [[nodiscard]] const Instruction* producer(ValueId id) const;
  /// Returns the instruction that gives a value if it is a use of this op, or null; good until one is added.
  [[nodiscard]] const Instruction* producer(ValueId id, const OpInfo* op) const;
  [[nodiscard]] ValueId operand(const Instruction& each, std::size_t i) const {
    return rebuilt_.parts().operands[each.first_operand + i];
  }
  /// Returns true if a kernel gives the value, so that it is row-major without gaps. Other values have any
  /// strides, in whose order kernels might add.
  [[nodiscard]] bool is_dense(ValueId id) const;
  /// Returns the element of a value that shows a single number; see `number_of`.
  [[nodiscard]] std::optional<std::array<std::byte, 16>> number(ValueId id) const;
  /// Returns a value for the place of the next result, if no kernel adds in the order of other strides then.
  [[nodiscard]] std::optional<ValueId> as_result(const NextInstruction& next, ValueId id) const {
    return next.may_be_strided || is_dense(id) ? std::optional(id) : std::nullopt;
  }
  /// Adds an instruction that gives what the next one would have given. Rules apply to it, too.
  [[nodiscard]] ValueId add_instead(const NextInstruction& next, const OpInfo& op, AttrsPtr attrs,
                                    const std::vector<ValueId>& operands) {
    return added(next.where, op, std::move(attrs), operands, next.aval, next.may_be_strided);
  }
  /// Adds an instruction on the way to that result. Rules apply to it, too.
  [[nodiscard]] ValueId add(const NextInstruction& next, const OpInfo& op, AttrsPtr attrs,
                            const std::vector<ValueId>& operands, const Aval& result) {
    return added(next.where, op, std::move(attrs), operands, result, false);
  }
  /// Adds a value that shows one number in all places.
  [[nodiscard]] ValueId add_number(const NextInstruction& next, const std::array<std::byte, 16>& element,
                                   const Aval& result);

 private:
  /// An instruction as it was before rules, and the value that it has become.
  struct Known {
    const OpInfo* op;
    AttrsPtr attrs;
    std::vector<ValueId> operands;
    ValueId result;
    bool is_strided;  ///< by a rule for results that may be
  };
  [[nodiscard]] ValueId added(const std::source_location& where, const OpInfo& op, AttrsPtr attrs,
                              const std::vector<ValueId>& operands, Aval result, bool may_be_strided);
  [[nodiscard]] ValueId one_of_equals(ValueId id);
  [[nodiscard]] ValueId next_result(Instruction made, const std::vector<ValueId>& operands,
                                    std::span<const Aval> results, bool may_be_strided);
  [[nodiscard]] std::optional<ValueId> by_rules(const NextInstruction& next);
  [[nodiscard]] std::optional<ValueId> known(std::uint64_t hash, const NextInstruction& next);
  void find_strided();

  const Program& program_;
  const RuleTable& rules_;
  Rebuilt rebuilt_;
  std::vector<bool> may_be_strided_;  // by value of the old program
  std::unordered_multimap<std::uint64_t, Known> known_;
  std::vector<ValueId> numbers_;  // constants that show one number, each number once
  AppliedRules applied_;
};

/// Applies rules, lets instructions that occur twice occur once, and leaves out those that nobody needs any
/// more; neither effects nor functions.
[[nodiscard]] Rewritten rewritten(const Program& program, const RuleTable& rules = RuleTable::exact());

}  // namespace lodestone::engine
