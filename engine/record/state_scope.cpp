// SPDX-License-Identifier: Apache-2.0
#include "engine/record/state_scope.hpp"

#include "engine/record/effects.hpp"
#include "engine/record/record.hpp"

#include <utility>

namespace lodestone::engine {
namespace {
thread_local StateScope* innermost_scope = nullptr;
}

// Scopes of held values around it do not see what is assigned here, as it does not stay.
StateScope::StateScope()
    : outer_(std::exchange(innermost_scope, this)),
      outer_held_(HeldValues::exchange_innermost(nullptr)),
      trace_(Effects::innermost()) {}

StateScope::~StateScope() {
  for (const auto& [id, before] : before_) {
    before.cell.cell_->value = before.value;
    before.cell.cell_->n_assigned = before.n_assigned;
  }
  static_cast<void>(HeldValues::exchange_innermost(outer_held_));
  innermost_scope = outer_;
}

bool StateScope::is_open() { return innermost_scope != nullptr; }
bool StateScope::is_nested() { return is_open() && innermost_scope->outer_ != nullptr; }
StateScope* StateScope::innermost() { return innermost_scope; }
bool StateScope::takes_placeholders() const { return Effects::innermost() == trace_; }

StateScope::Before& StateScope::note(const Variable& cell) {
  return before_.try_emplace(cell.id(), Before{cell, cell.cell_->value, cell.cell_->n_assigned, false})
      .first->second;
}

void StateScope::note_read(const Variable& cell) {
  if (before_.contains(cell.id())) return;
  note(cell);
  read_.push_back(cell);
  placeholders_.push_back(placeholder(cell.aval()));
  cell.cell_->value = placeholders_.back();
}

void StateScope::note_assigned(const Variable& cell) {
  if (!std::exchange(note(cell).is_assigned, true)) assigned_.push_back(cell);
}

}  // namespace lodestone::engine
