// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: shorter programs with the same bits.
#pragma once

#include "engine/program/program.hpp"

#include <map>
#include <optional>
#include <span>
#include <string_view>

namespace lodestone::engine {

/// A program as rules see it: values that are known to be others are those.
class RewriteView {
 public:
  RewriteView(const Program& program, const std::vector<ValueId>& stands_for)
      : program_(program), stands_for_(stands_for) {}
  [[nodiscard]] ValueId operand(const Instruction& each, std::size_t i) const {
    return stands_for_[program_.operands(each)[i]];
  }
  [[nodiscard]] const Aval& aval(ValueId id) const { return program_.values()[id].aval; }
  /// Returns the instruction that gives a value, or null.
  [[nodiscard]] const Instruction* producer(ValueId id) const;
  /// Returns true if a kernel gives the value, so that it is row-major without gaps. Other values have any
  /// strides, in whose order kernels might add.
  [[nodiscard]] bool is_dense(ValueId id) const;
  /// Returns the element of a value that shows a single number; see `number_of`.
  [[nodiscard]] std::optional<std::array<std::byte, 16>> number(ValueId id) const;

 private:
  const Program& program_;
  const std::vector<ValueId>& stands_for_;
};

/// A reason why the result of an instruction is a value that is there already.
struct ExactRule {
  std::string_view name;
  /// Returns that value for instructions of these ops, or none.
  std::optional<ValueId> (*apply)(const RewriteView& view, const Instruction& each);
  std::vector<const OpInfo*> ops;
};
/// Returns the rules that keep every bit, of NaN only that it is one.
[[nodiscard]] std::span<const ExactRule> exact_rules();

struct Rewritten {
  Program program;
  std::map<std::string_view, int> applied;  ///< numbers of times, by rule
};

/// Applies the exact rules, and lets instructions that occur twice occur once; neither effects nor functions.
/// Instructions that nobody needs any more may stay; `clustered` leaves them out.
[[nodiscard]] Rewritten rewritten(const Program& program);

}  // namespace lodestone::engine
