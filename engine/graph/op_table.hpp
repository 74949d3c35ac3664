// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/op_info.hpp"

#include <deque>
#include <map>

namespace lodestone::engine {

/// All ops of the process. An open set: `add` a row before the op is used; rows never move or disappear.
class OpTable {
 public:
  /// The table with the engine's own ops.
  static OpTable& global();
  /// errors: InvalidArgument when the name is taken or the row lacks a shape rule, or a derivative or why
  /// there is none.
  OpInfo& add(OpInfo row);
  /// errors: InvalidArgument, with the nearest name.
  [[nodiscard]] OpInfo& at(std::string_view name);
  [[nodiscard]] const std::deque<OpInfo>& rows() const { return rows_; }

 private:
  OpTable() = default;
  std::deque<OpInfo> rows_;
  std::map<std::string, OpInfo*, std::less<>> by_name_;
};

/// A row of the global table; keep the reference, rows do not move.
[[nodiscard]] inline OpInfo& op_named(std::string_view name) { return OpTable::global().at(name); }

/// Records an op; nothing runs yet. errors: ShapeError and InvalidArgument that name the op, the line, what
/// was expected and what came.
[[nodiscard]] Tensor record(const OpInfo& op, std::span<const Tensor> inputs, AttrsPtr attrs,
                            std::source_location where);
[[nodiscard]] inline Tensor record(const OpInfo& op, std::initializer_list<Tensor> inputs, AttrsPtr attrs,
                                   std::source_location where) {
  return record(op, std::span<const Tensor>(inputs.begin(), inputs.size()), std::move(attrs), where);
}

/// A tensor without a value, which stands for the argument of a function that a transform takes apart.
[[nodiscard]] Tensor placeholder(const Aval& aval,
                                 std::source_location where = std::source_location::current());

/// "(file.cpp:12)", for the end of a message.
[[nodiscard]] std::string at_line(const std::source_location& where);

}  // namespace lodestone::engine
