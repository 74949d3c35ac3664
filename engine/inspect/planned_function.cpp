// SPDX-License-Identifier: Apache-2.0
#include "engine/inspect/planned_function.hpp"

#include "engine/core/error.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

/// Returns the strides that a cell's array has when the function runs.
Strides strides_of(const Variable& cell) {
  const Tensor value = cell.value();
  const Node& node = value.node();
  const Strides dense = contiguous_strides(value.shape());
  const bool is_there = node.buffer && !node.is_abstract;
  const bool is_repeated = std::ranges::any_of(node.look.strides, [](auto step) { return step == 0; });
  return is_there && !is_repeated ? node.look.strides : dense;
}

std::vector<Strides> strides_of_inputs(const RecordedFunction& f) {
  std::vector<Strides> result;
  for (std::size_t i = 0; i < f.n_arguments(); ++i)
    result.push_back(contiguous_strides(f.program.values()[i].aval.shape));
  for (const Variable& each : f.read) result.push_back(strides_of(each));
  result.resize(f.program.n_inputs());  // those of scalars behind them
  return result;
}

}  // namespace

std::vector<std::string> PlannedFunction::input_names(const std::vector<NamedVariable>& cells) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < recorded.n_arguments(); ++i) names.push_back(fmt::format("argument {}", i));
  for (const Variable& each : recorded.read) {
    const auto named =
        std::ranges::find_if(cells, [&](const NamedVariable& cell) { return cell.variable == each; });
    names.push_back(named != cells.end() ? named->name : each.name());
  }
  for (std::size_t i = 0; i < recorded.feeds.size(); ++i) names.push_back(fmt::format("number {}", i));
  return names;
}

PlannedFunction planned_function(const Function& f, std::span<const Aval> arguments, Level level,
                                 std::source_location where, std::size_t budget) {
  auto recorded = recorded_function(f, arguments, where);
  if (!recorded)
    throw core::InvalidArgument("engine::inspect#inside_transform",
                                "expected a function of its arguments and cells, got one that captured a "
                                "tensor which a transform follows; look at it outside of transforms {}",
                                at_line(where));
  std::vector<Strides> strides = strides_of_inputs(*recorded);
  auto plan =
      plan_or_recorded(recorded->program, strides, level, recorded->donors(), HostJit::none(), budget);
  return {*std::move(recorded), std::move(strides), level, std::move(plan)};
}

}  // namespace lodestone::engine
