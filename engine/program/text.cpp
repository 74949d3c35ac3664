// SPDX-License-Identifier: Apache-2.0
// Programs as text.
#include "engine/graph/op_info.hpp"
#include "engine/program/program.hpp"

#include <fmt/format.h>

namespace lodestone::engine {
namespace {

/// Returns "%0, %2".
std::string listed(std::span<const ValueId> ids) {
  std::string list;
  for (const ValueId id : ids) list += fmt::format("{}%{}", list.empty() ? "" : ", ", id);
  return list;
}

/// Returns "%3: f32[64, 8]".
std::string declared(ValueId id, const Value& value) { return fmt::format("%{}: {}", id, value.aval.text()); }

std::string results_text(const Program& program, const Instruction& instruction) {
  std::string list;
  for (ValueId id = instruction.first_result; id < instruction.first_result + instruction.n_results; ++id)
    list += (list.empty() ? "" : ", ") + declared(id, program.values()[id]);
  return list;
}

}  // namespace

std::string Program::text(const Instruction& instruction) const {
  const std::string attrs = instruction.attrs ? instruction.attrs->text() : "";
  return fmt::format("{} = {}({}{}{})", results_text(*this, instruction), instruction.op->name,
                     listed(operands(instruction)), attrs.empty() || instruction.n_operands == 0 ? "" : "; ",
                     attrs);
}

std::string Program::text() const {
  std::string text;
  for (ValueId id = 0; id < parts_.values.size(); ++id) {
    const Value& value = parts_.values[id];
    if (value.from != Value::From::result)
      text +=
          declared(id, value) + (value.from == Value::From::input ? " is an input\n" : " is a constant\n");
  }
  for (const Instruction& each : parts_.instructions) text += this->text(each) + "\n";
  return text + fmt::format("return {}\n", listed(parts_.outputs));
}

}  // namespace lodestone::engine
