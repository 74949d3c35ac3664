// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/op_info.hpp"

#include <deque>
#include <map>

namespace lodestone::engine {

/// All ops of the process. An open set: `add` a row before the op is used; rows never move or disappear.
class OpTable {
 public:
  /// Returns the table with the engine's own ops, which engine/dispatch registers at the first call.
  static OpTable& global();
  /// Adds a row. errors: InvalidArgument when the name is taken, or the row lacks a shape rule; also when it
  /// has two reverse rules, or neither a derivative nor the reason for none.
  OpInfo& add(OpInfo row);
  /// Returns the row of an op. errors: InvalidArgument for an unknown name, with the nearest one.
  [[nodiscard]] OpInfo& at(std::string_view name);
  [[nodiscard]] const std::deque<OpInfo>& rows() const { return rows_; }

 private:
  OpTable() = default;
  std::deque<OpInfo> rows_;
  std::map<std::string, OpInfo*, std::less<>> by_name_;
};

/// Returns a row of the global table; keep the reference, rows do not move.
[[nodiscard]] inline OpInfo& op_named(std::string_view name) { return OpTable::global().at(name); }

}  // namespace lodestone::engine
