// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/number_of.hpp"

#include "engine/graph/op_info.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

/// Returns whether all places of an array show the same element of its buffer.
bool has_one_element(const Node& array) {
  bool result = array.aval.count() > 0;
  for (int axis = 0; axis < array.aval.shape.rank(); ++axis)
    result = result && (array.aval.shape[axis] == 1 || array.look.strides[axis] == 0);
  return result;
}

}  // namespace

std::optional<std::array<std::byte, 16>> number_of(const ProgramParts& program, ValueId id) {
  const Value* value = &program.values[id];
  while (value->from == Value::From::result) {
    const Instruction& each = program.instructions[value->of];
    if (each.op->view == nullptr || each.n_operands != 1) return std::nullopt;
    value = &program.values[program.operands[each.first_operand]];
  }
  if (value->from == Value::From::input || value->varies || value->aval.kind != Kind::array ||
      value->aval.device.kind != Device::Kind::cpu)
    return std::nullopt;
  const Node& constant = program.constants[value->of].node();
  if (!has_one_element(constant)) return std::nullopt;
  std::array<std::byte, 16> element{};
  std::copy_n(constant.data(), core::size_of(value->aval.dtype), element.begin());
  return element;
}

}  // namespace lodestone::engine
