// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/record/tensor.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace lodestone::engine {

/// A cell that holds a tensor and may be given another: where state lives while tensors stay immutable.
/// Copies name the same cell.
///
/// Shape, dtype and device are those of the first tensor for good. A cell belongs to one thread at a time.
class Variable {
 public:
  /// A parameter is what training changes along its gradient; state is kept and saved beside it: running
  /// statistics, moments, random keys.
  enum class Role : std::uint8_t { parameter, state };

  /// Makes a variable with a cell of its own. errors: InvalidArgument for an empty tensor, and for a
  /// parameter that is no floating-point number.
  Variable(std::string name, Tensor value, Role role = Role::parameter);

  [[nodiscard]] const std::string& name() const { return cell_->name; }
  [[nodiscard]] Role role() const { return cell_->role; }
  [[nodiscard]] const Aval& aval() const { return cell_->value.aval(); }
  [[nodiscard]] Tensor value() const;
  /// From here on the cell holds `value`, evaluated or not. errors: ShapeError for another shape, dtype or
  /// device; InvalidArgument for a tensor without elements, inside `vmap`, unless a `StateScope` takes it.
  void assign(const Located& value) const;

  [[nodiscard]] const void* id() const { return cell_.get(); }  ///< identity of the cell, while it lives
  friend bool operator==(const Variable& a, const Variable& b) {
    return a.cell_ == b.cell_;
  }  ///< true if both name one cell

 private:
  struct Cell {
    std::string name;
    Tensor value;
    Role role;
    std::uint64_t n_assigned = 0;
  };
  friend class HeldValues;
  friend class StateScope;
  std::shared_ptr<Cell> cell_;
};
using Variables = std::vector<Variable>;

/// A variable under its path from the outside: "encoder.0.weight".
struct NamedVariable {
  std::string name;
  Variable variable;
};

// Whole numbers among the state: steps, epochs, what was skipped.

/// Returns a scalar of i64.
[[nodiscard]] inline Tensor whole(std::int64_t value) {
  return Tensor::from(std::vector<std::int64_t>{value}, {});
}
/// Returns the number in such a cell.
[[nodiscard]] inline std::int64_t count_in(const Variable& variable) {
  return variable.value().item<std::int64_t>();
}

/// Returns the tensors that the cells hold now.
[[nodiscard]] Tensors values_of(std::span<const Variable> variables);

/// While one lives, the variables hold other tensors, which a transform can follow. At its end each of them
/// gets its own back, except where something was assigned meanwhile. If it ends without `keep`, because of an
/// exception, no cell has changed: also the others hold again what they held before.
class HeldValues {
 public:
  /// Gives the variables these values. errors: ShapeError when the tensors do not fit the variables.
  HeldValues(std::span<const Variable> variables, const Tensors& values);
  ~HeldValues();
  HeldValues(const HeldValues&) = delete;
  HeldValues& operator=(const HeldValues&) = delete;
  /// Returns true if one lives on this thread.
  [[nodiscard]] static bool is_open();
  /// Keeps the assigned values after its end.
  void keep() { keep_ = true; }
  /// Returns the cells that were assigned while it lives, once per assignment.
  [[nodiscard]] Variables assigned() const;

 private:
  friend class Variable;
  friend class StateScope;
  static HeldValues* exchange_innermost(HeldValues* scope);
  struct Held {
    Variable variable;
    Tensor own;
    std::uint64_t n_assigned;
  };
  void note_assigned(const Variable& variable);
  std::vector<Held> held_;
  std::vector<std::pair<Variable, Tensor>> before_;  ///< values of cells before assignments, oldest first
  HeldValues* outer_;
  bool keep_ = false;
};

}  // namespace lodestone::engine
