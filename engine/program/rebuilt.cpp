// SPDX-License-Identifier: Apache-2.0
#include "engine/program/rebuilt.hpp"

#include <limits>
#include <utility>

namespace lodestone::engine {
namespace {

constexpr ValueId unknown = std::numeric_limits<ValueId>::max();

}  // namespace

Rebuilt::Rebuilt(const Program& from) : from_(from), new_of_(from.values().size(), unknown) {
  parts_.n_inputs = from.n_inputs();
  for (ValueId id = 0; id < from.n_inputs(); ++id)
    replace(id, add_value(from.values()[id].aval, Value::From::input, id));
}

ValueId Rebuilt::add_value(const Aval& aval, Value::From from, std::size_t of, std::uint32_t output) {
  parts_.values.push_back({aval, from, static_cast<std::uint32_t>(of), output});
  return static_cast<ValueId>(parts_.values.size() - 1);
}

ValueId Rebuilt::of(ValueId old) {
  if (new_of_[old] == unknown) {
    const Value& constant = from_.values()[old];
    replace(old, add_constant(from_.constants()[constant.of]));
    parts_.values[new_of_[old]].varies = constant.varies;
  }
  return new_of_[old];
}

ValueId Rebuilt::add_constant(const Tensor& constant) {
  const ValueId id = add_value(constant.aval(), Value::From::constant, parts_.constants.size());
  parts_.constants.push_back(constant);
  return id;
}

void Rebuilt::replace(ValueId old, ValueId by) {
  new_of_[old] = by;
  ValueId& origin = parts_.values[by].origin;
  if (origin == Value::no_origin) origin = from_.values()[old].origin;
}

ValueId Rebuilt::add(Instruction made, std::span<const ValueId> operands, std::span<const Aval> results) {
  made.first_operand = static_cast<std::uint32_t>(parts_.operands.size());
  made.n_operands = static_cast<std::uint32_t>(operands.size());
  made.first_result = static_cast<ValueId>(parts_.values.size());
  made.n_results = static_cast<std::uint32_t>(results.size());
  parts_.operands.insert(parts_.operands.end(), operands.begin(), operands.end());
  for (std::uint32_t i = 0; i < made.n_results; ++i)
    add_value(results[i], Value::From::result, parts_.instructions.size(), i);
  parts_.instructions.push_back(std::move(made));
  return parts_.instructions.back().first_result;
}

void Rebuilt::copy(const Instruction& each) {
  std::vector<ValueId> operands;
  std::vector<Aval> results;
  for (const ValueId id : from_.operands(each)) operands.push_back(of(id));
  for (std::uint32_t i = 0; i < each.n_results; ++i)
    results.push_back(from_.values()[each.first_result + i].aval);
  const ValueId first = add(each, operands, results);
  for (std::uint32_t i = 0; i < each.n_results; ++i) replace(each.first_result + i, first + i);
}

Program Rebuilt::program() {
  for (const ValueId id : from_.outputs()) parts_.outputs.push_back(of(id));
  return Program(std::exchange(parts_, {}));
}

}  // namespace lodestone::engine
