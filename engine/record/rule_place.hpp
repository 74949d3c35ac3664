// SPDX-License-Identifier: Apache-2.0
// Small on purpose: who records and who calls rules share it.
// Inside of the engine: the line of the user's code for what a rule records.
#pragma once

#include <source_location>

namespace lodestone::engine {

/// While one lives, what this thread records belongs to this line: that of the op whose rule runs. So an op
/// of a backward pass, or of a composition, has the line of the user's code that it is there for. The
/// innermost one counts.
class RulePlace {
 public:
  explicit RulePlace(const std::source_location& where) : RulePlace(&where) {}
  /// Lets ops have their own lines again, where a rule calls code of the user.
  [[nodiscard]] static RulePlace none() { return RulePlace(nullptr); }
  ~RulePlace();
  RulePlace(const RulePlace&) = delete;
  RulePlace& operator=(const RulePlace&) = delete;

  /// Returns the line that counts for what is recorded at `own`.
  [[nodiscard]] static const std::source_location& of(const std::source_location& own);

 private:
  explicit RulePlace(const std::source_location* where);
  std::source_location where_;
  const std::source_location* before_;
};

}  // namespace lodestone::engine
