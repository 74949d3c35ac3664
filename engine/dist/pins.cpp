// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/pins.hpp"

#include "engine/core/error.hpp"
#include "engine/dist/label_cuts.hpp"
#include "engine/transform/attributes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lodestone::engine {
namespace {

constexpr std::string_view zero = "zero over ";

/// A value with the name by which pins find it.
struct NamedValue {
  std::string name;
  ValueId value;
};

std::string name_of(const Variable& cell, const std::vector<NamedVariable>& names) {
  const auto known =
      std::ranges::find_if(names, [&](const NamedVariable& each) { return each.variable == cell; });
  return known == names.end() ? cell.name() : known->name;
}

std::vector<NamedValue> named_values(const RecordedFunction& recorded, const ParallelOptions& options) {
  std::vector<NamedValue> result;
  const Program& program = recorded.program;
  for (std::size_t i = 0; i < recorded.n_arguments(); ++i)
    result.push_back(
        {i < options.inputs.size() ? options.inputs[i] : std::to_string(i), static_cast<ValueId>(i)});
  for (std::size_t i = 0; i < recorded.read.size(); ++i)
    result.push_back(
        {name_of(recorded.read[i], options.cells), static_cast<ValueId>(recorded.n_arguments() + i)});
  const std::size_t first = program.outputs().size() - recorded.assigned.size();
  for (std::size_t i = 0; i < recorded.assigned.size(); ++i) {
    if (std::ranges::find(recorded.read, recorded.assigned[i]) == recorded.read.end())
      result.push_back({name_of(recorded.assigned[i], options.cells), program.outputs()[first + i]});
  }
  for (const Instruction& each : program.instructions()) {
    if (each.op->name == "checkpoint_name")
      result.push_back({attrs_as<NameAttrs>(*each.attrs).name, each.first_result});
  }
  return result;
}

[[noreturn]] void refuse(const Pin& pin, const std::string& name, const Aval& aval, const DeviceMesh& mesh,
                         std::string_view why) {
  throw core::InvalidArgument("parallelize#wrong_pin",
                              "expected a layout for \"{}\", which is {}, on the mesh {}, but the pin \"{}\" "
                              "says \"{}\": {}",
                              name, aval.text(), mesh.text(), pin.name, pin.layout, why);
}

/// Returns the layout that a pin gives a tensor.
MeshLayout layout_of(const Pin& pin, const Shape& shape, const DeviceMesh& mesh) {
  MeshLayout layout = whole_layout(shape.rank(), mesh);
  if (!pin.layout.starts_with(zero)) {
    layout = layout_from(pin.layout, mesh);
    if (std::ssize(layout.cuts) < shape.rank()) layout.cuts.resize(static_cast<std::size_t>(shape.rank()));
    check_layout(layout, shape, mesh);
    return layout;
  }
  const int axis = mesh.axis_named(std::string_view(pin.layout).substr(zero.size()));
  if (shape.empty()) return layout;
  const int n = mesh.axes()[static_cast<std::size_t>(axis)].n_shards();
  const auto enough = std::ranges::find_if(shape, [&](Dim extent) { return extent >= n; });
  const auto cut = enough == shape.end() ? std::ranges::max_element(shape) : enough;
  layout.cuts[static_cast<std::size_t>(cut - shape.begin())].axes = {axis};
  return layout;
}

MeshLayout checked_layout(const Pin& pin, const std::string& name, const Aval& aval, const DeviceMesh& mesh) {
  try {
    MeshLayout layout = layout_of(pin, aval.shape, mesh);
    const auto is_partial = [](Terms how) { return how != Terms::no; };
    if (std::ranges::any_of(layout.terms, is_partial))
      refuse(pin, name, aval, mesh, "what is pinned has no terms");
    if (layout.memory != Memory::device) refuse(pin, name, aval, mesh, "what is pinned lies on the device");
    return layout;
  } catch (const core::InvalidArgument& error) {
    if (error.id() == "wrong_pin") throw;
    refuse(pin, name, aval, mesh, error.what());
  }
}

void check_all_fit(const std::vector<Pin>& pins, const std::vector<NamedValue>& values) {
  for (const Pin& pin : pins) {
    const auto is_its = [&](const NamedValue& each) { return fits(pin.name, each.name); };
    if (std::ranges::any_of(values, is_its)) continue;
    std::string names;
    for (const NamedValue& each : values)
      names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", each.name);
    throw core::InvalidArgument("parallelize#pin_of_nothing",
                                "expected a pin for one of {}, got one for \"{}\"", names, pin.name);
  }
}

}  // namespace

bool fits(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] != '*')
    return !name.empty() && pattern[0] == name[0] && fits(pattern.substr(1), name.substr(1));
  for (std::size_t n = 0; n <= name.size(); ++n) {
    if (fits(pattern.substr(1), name.substr(n))) return true;
  }
  return false;
}

std::string zero_over(std::string_view mesh_axis) { return fmt::format("{}{}", zero, mesh_axis); }

LayoutTask task_of(const RecordedFunction& recorded, const DeviceMesh& mesh, const ParallelOptions& options,
                   GivenAs given) {
  const std::vector<NamedValue> values = named_values(recorded, options);
  check_all_fit(options.pins, values);
  LayoutTask task;
  for (const auto& [name, value] : values) {
    const auto pin =
        std::ranges::find_if(options.pins, [&](const Pin& each) { return fits(each.name, name); });
    if (pin == options.pins.end()) continue;
    const Aval& aval = recorded.program.values()[value].aval;
    task.pins.push_back({value, checked_layout(*pin, name, aval, mesh),
                         fmt::format("\"{}\" by pin \"{}\"", name, pin->name)});
  }
  const auto is_pinned = [&](ValueId value) {
    return std::ranges::any_of(task.pins, [&](const PinnedValue& each) { return each.value == value; });
  };
  for (ValueId value = 0; given == GivenAs::pieces && value < recorded.n_arguments(); ++value) {
    task.held_in_pieces.push_back(value);
    if (!is_pinned(value))
      task.pins.push_back({value, whole_layout(recorded.program.values()[value].aval.shape.rank(), mesh),
                           fmt::format("\"{}\", an input without a pin", values[value].name)});
  }
  const bool is_searched = options.search != Search::none;
  for (std::size_t i = 0; i < recorded.read.size(); ++i) {
    const auto value = static_cast<ValueId>(recorded.n_arguments() + i);
    task.held_in_pieces.push_back(value);
    if (is_pinned(value) || recorded.read[i].role() != Variable::Role::parameter || is_searched) continue;
    // Moments may be cut by themselves; parameters follow nobody.
    const Shape& shape = recorded.program.values()[value].aval.shape;
    task.pins.push_back({value, whole_layout(shape.rank(), mesh),
                         fmt::format("\"{}\", a parameter without a pin", values[value].name)});
  }
  for (const auto& [input, output] : recorded.donors())
    task.cells.emplace_back(input, recorded.program.outputs()[output]);
  return task;
}

std::vector<Pin> pins_of(const RecordedFunction& recorded, const LayoutTable& table, const DeviceMesh& mesh,
                         const ParallelOptions& options) {
  std::vector<Pin> pins;
  for (const auto& [name, value] : named_values(recorded, options)) {
    const MeshLayout& layout = table.values[value];
    if (value < recorded.n_arguments() && !is_cut(layout)) continue;
    if (!name.empty() && std::ranges::find(pins, name, &Pin::name) == pins.end())
      pins.push_back({name, text_of(layout, mesh)});
  }
  return pins;
}

}  // namespace lodestone::engine
