// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: how state takes part in a function that is recorded once and run often.
#pragma once

#include "engine/record/variable.hpp"

#include <unordered_map>

namespace lodestone::engine {

class Effects;
class HeldValues;

/// While one lives, this thread records a function without values whose cells are further inputs and outputs.
/// A cell that is read for the first time holds a placeholder from then on. One that is assigned may hold
/// what depends on placeholders. At its end every cell holds again what it held before.
///
/// It belongs to the trace that is under way when it begins: inside of sub-graphs of that trace cells can be
/// read, and are inputs of the whole, but no placeholder can be assigned.
class StateScope {
 public:
  StateScope();
  ~StateScope();
  StateScope(const StateScope&) = delete;
  StateScope& operator=(const StateScope&) = delete;
  /// Returns true if one lives on this thread.
  [[nodiscard]] static bool is_open();
  /// Returns true if the innermost one of this thread lives inside of another: what is recorded is a
  /// sub-graph, which may run more or less often than the whole.
  [[nodiscard]] static bool is_nested();

  /// Returns the cells that were read before they were assigned, in the order of their first reads.
  [[nodiscard]] const Variables& read() const { return read_; }
  /// Returns what these cells hold to be read.
  [[nodiscard]] const Tensors& placeholders() const { return placeholders_; }
  /// Returns the cells that were assigned, in the order of their first assignments.
  [[nodiscard]] const Variables& assigned() const { return assigned_; }

 private:
  friend class Variable;
  /// State of a cell before the scope.
  struct Before {
    Variable cell;
    Tensor value;
    std::uint64_t n_assigned;
    bool is_assigned;
  };
  [[nodiscard]] static StateScope* innermost();
  /// Returns true unless a trace without values is under way inside of the one that the scope belongs to.
  [[nodiscard]] bool takes_placeholders() const;
  Before& note(const Variable& cell);
  void note_read(const Variable& cell);
  void note_assigned(const Variable& cell);

  StateScope* outer_;
  HeldValues* outer_held_;
  const Effects* trace_;
  std::unordered_map<const void*, Before> before_;
  Variables read_, assigned_;
  Tensors placeholders_;
};

}  // namespace lodestone::engine
