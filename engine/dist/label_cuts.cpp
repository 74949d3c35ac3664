// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/label_cuts.hpp"

#include "engine/graph/op_info.hpp"

#include <algorithm>
#include <numeric>

namespace lodestone::engine {
namespace {

/// Returns whether a mesh axis of a cut cuts another label already.
bool is_used(std::span<const Cut> cuts, std::size_t label, const Cut& cut) {
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    for (const Dim axis : cuts[i].axes) {
      if (i != label && cut.axes.contains(axis)) return true;
    }
  }
  return false;
}

/// Returns the cut of a label that the cut of an axis of an operand means.
Cut cut_of_label(const AxisAccess& access, const Label& label, const Cut& cut) {
  using enum AxisAccess::How;
  Cut result{cut.axes, label.grain};
  if (access.how == same) result.grain = std::lcm(cut.grain, label.grain);
  // In elements, of which a place of the operand has `divisor` and one of the label `stride`.
  if (access.how == blocks)
    result.grain = std::lcm(cut.grain * access.divisor, label.grain * access.stride) / access.stride;
  if (access.how == whole || access.how == indexed) result = {};
  return result;
}

/// Returns the cut of an axis of an operand that is nearest to the cut of a label.
Cut cut_of_axis(const AxisAccess& access, const Cut& cut) {
  using enum AxisAccess::How;
  if (access.how == same) return cut;
  if (access.how == blocks && (cut.grain * access.stride) % access.divisor == 0)
    return {cut.axes, cut.grain * access.stride / access.divisor};
  if (access.is_sampled()) return {cut.axes, 1};
  return {};
}

}  // namespace

bool is_cut(std::span<const Cut> cuts) {
  return std::ranges::any_of(cuts, [](const Cut& cut) { return !cut.axes.empty(); });
}

bool add_cuts(LabelCuts& cuts, const LabelCuts& more) {
  bool fit = true;
  for (std::size_t i = 0; i < more.size(); ++i) {
    if (more[i].axes.empty()) continue;
    Cut& its = cuts[i];
    if (its.axes.empty() && !is_used(cuts, i, more[i])) {
      its = more[i];
    } else if (its.axes == more[i].axes) {
      its.grain = std::lcm(its.grain, more[i].grain);
    } else {
      fit = false;
    }
  }
  return fit;
}

void drop_impossible(LabelCuts& cuts, const OpInfo& op, const AxisMap& map, const DeviceMesh& mesh) {
  for (std::size_t label = 0; label < cuts.size(); ++label) {
    if (!cuts[label].axes.empty() && !can_cut(op, map, static_cast<int>(label), cuts[label], mesh))
      cuts[label] = {};
  }
}

LabelCuts cuts_of_operand(const OpInfo& op, const AxisMap& map, std::size_t operand, const MeshLayout& layout,
                          const DeviceMesh& mesh) {
  LabelCuts cuts(map.labels.size());
  for (std::size_t axis = 0; axis < map.inputs[operand].size(); ++axis) {
    const AxisAccess& access = map.inputs[operand][axis];
    const Cut& cut = layout.cuts[axis];
    if (access.label < 0 || cut.axes.empty()) continue;
    const auto label = static_cast<std::size_t>(access.label);
    LabelCuts one(map.labels.size());
    one[label] = cut_of_label(access, map.labels[label], cut);
    add_cuts(cuts, one);
  }
  drop_impossible(cuts, op, map, mesh);
  return cuts;
}

LabelCuts cuts_of_result(const OpInfo& op, const AxisMap& map, std::size_t result, const MeshLayout& layout,
                         const DeviceMesh& mesh) {
  LabelCuts cuts(map.labels.size());
  if (result >= map.outputs.size() || map.outputs[result].size() != std::ssize(layout.cuts)) return cuts;
  for (std::size_t axis = 0; axis < layout.cuts.size(); ++axis) {
    const auto label = static_cast<std::size_t>(map.outputs[result][static_cast<int>(axis)]);
    const Cut& cut = layout.cuts[axis];
    if (!cut.axes.empty()) cuts[label] = {cut.axes, std::lcm(cut.grain, map.labels[label].grain)};
  }
  drop_impossible(cuts, op, map, mesh);
  return cuts;
}

MeshLayout layout_of_operand(const AxisMap& map, std::size_t operand, const Shape& shape,
                             const LabelCuts& cuts, const DeviceMesh& mesh) {
  MeshLayout layout = whole_layout(shape.rank(), mesh);
  for (std::size_t axis = 0; axis < layout.cuts.size(); ++axis) {
    const AxisAccess& access = map.inputs[operand][axis];
    if (access.label < 0) continue;
    const Cut cut = cut_of_axis(access, cuts[static_cast<std::size_t>(access.label)]);
    if (!cut.axes.empty() && !is_used(layout.cuts, axis, cut)) layout.cuts[axis] = cut;
  }
  return layout;
}

double repeated_operations(double operations, const LabelCuts& cuts, const DeviceMesh& mesh) {
  double n = 1.0;
  for (const Cut& cut : cuts) n *= mesh.size_along(cut.axes);
  return operations * (mesh.size() / n - 1.0);
}

}  // namespace lodestone::engine
