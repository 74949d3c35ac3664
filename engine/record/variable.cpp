// SPDX-License-Identifier: Apache-2.0
#include "engine/record/variable.hpp"

#include "engine/core/error.hpp"
#include "engine/record/state_scope.hpp"

namespace lodestone::engine {
namespace {
thread_local HeldValues* innermost = nullptr;
}

Variable::Variable(std::string name, Tensor value, Role role) {
  if (!value.is_valid())
    throw core::InvalidArgument("engine::Variable#empty_tensor",
                                "expected a tensor for \"{}\", got an empty one", name);
  if (role == Role::parameter && !core::is_float(value.dtype()))
    throw core::InvalidArgument("engine::Variable#not_floating_point",
                                "expected a floating-point tensor for parameter \"{}\", got {}", name,
                                value.aval().text());
  cell_ = std::make_shared<Cell>(Cell{std::move(name), std::move(value), role});
}

Tensor Variable::value() const {
  if (StateScope* scope = StateScope::innermost()) scope->note_read(*this);
  return cell_->value;
}

void Variable::assign(const Located& value) const {
  if (!value.tensor.is_valid() || !(value.tensor.aval() == aval())) {
    throw core::ShapeError(
        "engine::Variable#wrong_tensor",
        "expected {} for \"{}\", got {}; a variable keeps its shape and dtype {}", aval().text(), name(),
        value.tensor.is_valid() ? value.tensor.aval().text() : "an empty tensor", at_line(value.where));
  }
  StateScope* scope = StateScope::innermost();
  if (value.tensor.node().is_abstract && (scope == nullptr || !scope->takes_placeholders())) {
    throw core::InvalidArgument("engine::Variable#no_values_while_tracing",
                                "expected a tensor with elements for \"{}\", got one inside a transform that "
                                "traces without values, which "
                                "cannot leave it; evaluate the module in the mode that changes no state {}",
                                name(), at_line(value.where));
  }
  if (scope != nullptr) scope->note_assigned(*this);
  if (innermost != nullptr) innermost->note_assigned(*this);
  cell_->value = value.tensor;
  ++cell_->n_assigned;
}

Tensors values_of(std::span<const Variable> variables) {
  Tensors values;
  for (const Variable& each : variables) values.push_back(each.value());
  return values;
}

HeldValues::HeldValues(std::span<const Variable> variables, const Tensors& values) : outer_(innermost) {
  if (values.size() != variables.size())
    throw core::ShapeError("engine::HeldValues#wrong_tensor_count",
                           "expected {} tensors for {} variables, got {}", variables.size(), variables.size(),
                           values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(values[i].aval() == variables[i].aval()))
      throw core::ShapeError("engine::HeldValues#wrong_tensor", "expected {} for \"{}\", got {}",
                             variables[i].aval().text(), variables[i].name(), values[i].aval().text());
  }
  held_.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto& cell = *variables[i].cell_;
    held_.push_back({variables[i], variables[i].value(), cell.n_assigned});
    cell.value = values[i];
  }
  innermost = this;
}

HeldValues::~HeldValues() {
  innermost = outer_;
  // Backwards, so that a cell that is listed twice ends with what it held first.
  for (auto before = before_.rbegin(); !keep_ && before != before_.rend(); ++before)
    before->first.cell_->value = before->second;
  for (auto held = held_.rbegin(); held != held_.rend(); ++held) {
    auto& cell = *held->variable.cell_;
    if (!keep_ || cell.n_assigned == held->n_assigned) cell.value = held->own;
  }
}

bool HeldValues::is_open() { return innermost != nullptr; }

Variables HeldValues::assigned() const {
  Variables result;
  for (const auto& [cell, _] : before_) result.push_back(cell);
  return result;
}

HeldValues* HeldValues::exchange_innermost(HeldValues* scope) { return std::exchange(innermost, scope); }

void HeldValues::note_assigned(const Variable& variable) {
  if (outer_ != nullptr) outer_->note_assigned(variable);
  before_.emplace_back(variable, variable.cell_->value);
}

}  // namespace lodestone::engine
