// SPDX-License-Identifier: Apache-2.0
#include "engine/core/store.hpp"
#include "engine/inspect/compare.hpp"
#include "engine/inspect/watch.hpp"
#include "engine/record/tuple.hpp"

namespace lodestone::engine {
namespace {

/// Returns what a program computes as one of its values on a level.
ArrayStatistics value_on(Level level, ValueId id, const PlannedFunction& function,
                         std::span<const Tensor> inputs) {
  ProgramParts parts = function.plan->program().parts();
  parts.outputs = {id};
  const Tensor value = Plan(Program(std::move(parts)), function.strides, level).run(inputs)[0];
  return statistics_of(value.dtype(), value.bytes());
}

/// Returns the computed ones of all values on which one depends, itself the last.
std::vector<DumpedValue> ancestors_of(const Deviation& last, const Program& program,
                                      std::vector<DumpedValue> all) {
  std::vector<bool> is_needed(program.values().size(), false);
  is_needed[static_cast<std::size_t>(last.a.value)] = true;
  for (std::size_t at = is_needed.size(); at-- > 0;) {
    const Value& value = program.values()[at];
    if (!is_needed[at] || value.from != Value::From::result) continue;
    for (const ValueId operand : program.operands(program.instructions()[value.of]))
      is_needed[operand] = true;
  }
  std::erase_if(all, [&](const DumpedValue& each) {
    return !is_needed[static_cast<std::size_t>(each.value)] || each.op == "input";
  });
  return all;
}

}  // namespace

std::optional<Deviation> bisect(const Function& f, const Tensors& arguments, Level a, Level b,
                                const std::vector<NamedVariable>& cells, std::source_location where) {
  const auto dumped = [&](Level level) {
    core::MemoryArrays arrays;
    dump(f, arguments, arrays, {.level = level, .cells = cells}, where);
    return arrays;
  };
  const std::optional<Deviation> seen = compare(dumped(a), dumped(b)).first;
  if (!seen) return {};
  const PlannedFunction function = planned_function(f, avals_of(arguments), Level::O0, where);
  const GivenInputs inputs(function, arguments);
  // What a cluster gives differs, what is in it was not seen.
  for (const DumpedValue& each :
       ancestors_of(*seen, function.plan->program(), dumped_values(dumped(Level::O0)))) {
    Deviation found{each, each, 0.0};
    const auto id = static_cast<ValueId>(each.value);
    found.a.statistics = value_on(a, id, function, inputs.all());
    found.b.statistics = value_on(b, id, function, inputs.all());
    if (found.a.statistics.checksum == found.b.statistics.checksum) continue;
    found.size = relative_difference(found.a.statistics, found.b.statistics);
    return found;
  }
  return seen;
}

}  // namespace lodestone::engine
