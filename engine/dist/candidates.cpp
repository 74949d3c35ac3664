// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/candidates.hpp"

#include "engine/dist/label_cuts.hpp"
#include "engine/graph/op_info.hpp"

#include <algorithm>
#include <functional>

namespace lodestone::engine {
namespace {

/// The assignments of mesh axes to labels beyond which the shortest labels stay whole.
constexpr double most_assignments = 125.0;

/// Something of which each mesh axis may cut a part: labels, or axes of a tensor.
struct Part {
  std::size_t number;
  Dim extent, grain;
};

/// Leaves the longest parts, so that assignments do not become too many.
void leave_longest(std::vector<Part>& parts, const DeviceMesh& mesh) {
  std::ranges::stable_sort(parts, std::ranges::greater(), &Part::extent);
  const auto n_assignments = [&] {
    double n = 1.0;
    for (int axis = 0; axis < mesh.n_axes(); ++axis) n *= static_cast<double>(parts.size()) + 1.0;
    return n;
  };
  while (!parts.empty() && n_assignments() > most_assignments) parts.pop_back();
}

/// Returns the cuts of all assignments of mesh axes to parts that have an element for each shard.
std::vector<std::vector<Cut>> assignments(std::size_t n_all, std::vector<Part> parts,
                                          const DeviceMesh& mesh) {
  leave_longest(parts, mesh);
  std::vector<std::vector<Cut>> all{std::vector<Cut>(n_all)};
  for (int axis = 0; axis < mesh.n_axes(); ++axis) {
    if (mesh.size_along({axis}) == 1) continue;
    const std::size_t n = all.size();
    for (std::size_t i = 0; i < n; ++i) {
      for (const auto& [number, extent, grain] : parts) {
        std::vector<Cut> cuts = all[i];
        cuts[number].axes.push_back(axis);
        cuts[number].grain = grain;
        if (extent / grain >= mesh.size_along(cuts[number].axes)) all.push_back(std::move(cuts));
      }
    }
  }
  return all;
}

/// Returns the mesh axes over which the terms of the last reduced label lie, which one step combines.
IntList axes_of_last_terms(const AxisMap& map, const LabelCuts& cuts) {
  IntList axes;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    if (!cuts[i].axes.empty() && map.labels[i].kind == Label::Kind::reduced) axes = cuts[i].axes;
  }
  return axes;
}

}  // namespace

std::vector<WayToCut> ways_to_cut(const Program& program, const Instruction& instruction, const AxisMap& map,
                                  const DeviceMesh& mesh) {
  std::vector<Part> labels;
  for (std::size_t i = 0; i < map.labels.size(); ++i) {
    const Label& its = map.labels[i];
    if (its.kind != Label::Kind::whole && its.extent > 1) labels.push_back({i, its.extent, its.grain});
  }
  const auto shape = [&](std::uint32_t k) -> const Shape& {
    return program.values()[instruction.first_result + k].aval.shape;
  };
  std::vector<WayToCut> ways;
  for (const LabelCuts& cuts : assignments(map.labels.size(), std::move(labels), mesh)) {
    LabelCuts possible = cuts;
    drop_impossible(possible, *instruction.op, map, mesh);
    if (possible != cuts) continue;
    WayToCut way{cuts, {}};
    for (std::uint32_t k = 0; k < instruction.n_results; ++k)
      way.results.push_back(layout_of_result(map, k, shape(k), cuts, mesh));
    ways.push_back(way);
    const IntList axes = axes_of_last_terms(map, cuts);
    if (axes.empty() || map.combine != Combine::sum || instruction.n_results != 1) continue;
    for (int axis = 0; axis < shape(0).rank(); ++axis) {
      WayToCut scattered = way;
      Cut& cut = scattered.results[0].cuts[static_cast<std::size_t>(axis)];
      if (!cut.axes.empty() || shape(0)[axis] < mesh.size_along(axes)) continue;
      cut = {axes, 1};
      ways.push_back(std::move(scattered));
    }
  }
  return ways;
}

std::vector<MeshLayout> ways_to_keep(const Shape& shape, const DeviceMesh& mesh) {
  std::vector<Part> axes;
  for (int axis = 0; axis < shape.rank(); ++axis)
    axes.push_back({static_cast<std::size_t>(axis), shape[axis], 1});
  std::vector<MeshLayout> ways;
  for (std::vector<Cut>& cuts : assignments(axes.size(), axes, mesh)) {
    ways.push_back(whole_layout(shape.rank(), mesh));
    ways.back().cuts = std::move(cuts);
  }
  return ways;
}

}  // namespace lodestone::engine
