// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/work.hpp"

#include "engine/graph/op_info.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

/// Returns the smallest box around two, of which empty ones do not count.
Box around(const Box& a, const Box& b) {
  if (a.is_empty() || b.is_empty()) return a.is_empty() ? b : a;
  Box result = a;
  for (int axis = 0; axis < a.rank(); ++axis) {
    result.first[axis] = std::min(a.first[axis], b.first[axis]);
    result.shape[axis] = std::max(a.end(axis), b.end(axis)) - result.first[axis];
  }
  return result;
}

/// Labels of an instruction that a rank computes leaf by leaf: reduced ones first.
std::vector<int> labels_by_leaf(const OpInfo& op, const AxisMap& map, const LabelCuts& cuts) {
  std::vector<int> result;
  for (const auto kind : {Label::Kind::reduced, Label::Kind::free}) {
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      if (!cuts[i].axes.empty() && map.labels[i].kind == kind && runs_by_leaf(op, map.labels[i]))
        result.push_back(static_cast<int>(i));
    }
  }
  return result;
}

}  // namespace

Boxes boxes_of(const MeshLayout& layout, const Shape& shape, const DeviceMesh& mesh) {
  Boxes result;
  for (const int rank : mesh.ranks()) result.push_back(box_of(layout, shape, mesh, rank));
  return result;
}

std::int64_t missing(const Boxes& have, const Boxes& need) {
  std::int64_t n = 0;
  for (std::size_t i = 0; i < have.size(); ++i) n += need[i].count() - intersection(need[i], have[i]).count();
  return n;
}

Work::Work(const Program& program, const Instruction& its, AxisMap its_map, LabelCuts its_cuts,
           std::span<const MeshLayout> wanted, const DeviceMesh& mesh)
    : instruction(its),
      map(std::move(its_map)),
      cuts(std::move(its_cuts)),
      by_leaf(labels_by_leaf(*its.op, map, cuts)),
      mesh_(mesh) {
  const auto shape = [&](std::uint32_t k) -> const Shape& {
    return program.values()[its.first_result + k].aval.shape;
  };
  needs.resize(its.n_operands);
  gives.resize(its.n_results);
  for (const int rank : mesh_.ranks()) {
    const std::vector<AxisRange> places = places_of_rank(map, cuts, mesh_, rank);
    Boxes boxes(its.n_operands);
    add_needs(boxes, rank, places, 0, true);
    for (std::size_t k = 0; k < boxes.size(); ++k) needs[k].push_back(boxes[k]);
    for (std::uint32_t k = 0; k < its.n_results; ++k)
      gives[k].push_back(box_of_result(map, k, shape(k), places));
  }
  if (its.n_results == 1) find_scatter(shape(0), wanted[0]);
}

std::vector<AxisRange> Work::leaves(int label, int rank) const {
  const auto at = static_cast<std::size_t>(label);
  return leaves_of_rank(map.labels[at], cuts[at], mesh_, rank);
}

std::vector<int> Work::reduced() const {
  std::vector<int> result;
  for (const int each : by_leaf) {
    if (label(each).kind == Label::Kind::reduced) result.push_back(each);
  }
  return result;
}

double Work::combined_elements(std::size_t result) const {
  double elements = 0.0;
  const std::vector<int> labels = reduced();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const double g = mesh_.size_along(cuts[static_cast<std::size_t>(labels[i])].axes);
    const bool is_scattered = i + 1 == labels.size() && scattered_axis >= 0;
    for (const Box& box : gives[result])
      elements += static_cast<double>(box.count()) * (is_scattered ? g - 1.0 : 2.0 * (g - 1.0) / g);
  }
  return elements;
}

/// Puts boxes around what all leaves of a rank need.
void Work::add_needs(Boxes& boxes, int rank, std::vector<AxisRange> places, std::size_t n_set,
                     bool is_first) const {
  if (n_set == by_leaf.size()) {
    const Boxes more = operand_boxes(map, places);
    for (std::size_t k = 0; k < boxes.size(); ++k) boxes[k] = is_first ? more[k] : around(boxes[k], more[k]);
    return;
  }
  for (const AxisRange& leaf : leaves(by_leaf[n_set], rank)) {
    places[static_cast<std::size_t>(by_leaf[n_set])] = leaf;
    add_needs(boxes, rank, places, n_set + 1, is_first);
    is_first = false;
  }
}

/// Finds whether a sum is to be cut by the mesh axes over which the terms of its last label lie.
void Work::find_scatter(const Shape& shape, const MeshLayout& wanted) {
  const std::vector<int> labels = reduced();
  if (labels.empty() || map.combine != Combine::sum) return;
  const MeshLayout own = layout_of_result(map, 0, shape, cuts, mesh_);
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const auto at = static_cast<std::size_t>(axis);
    if (!own.cuts[at].axes.empty() || wanted.cuts[at].axes.empty() ||
        !(wanted.cuts[at].axes == cuts[static_cast<std::size_t>(labels.back())].axes))
      continue;
    scattered_axis = axis;
    scattered = wanted.cuts[at];
    const std::vector<Dim> ends = boundaries(shape[axis], mesh_.size_along(scattered.axes),
                                             mesh_.shards_along(scattered.axes), scattered.grain);
    for (std::size_t i = 0; i < gives[0].size(); ++i) {
      const auto index = static_cast<std::size_t>(mesh_.index_along(mesh_.ranks()[i], scattered.axes));
      gives[0][i].first[axis] = ends[index];
      gives[0][i].shape[axis] = ends[index + 1] - ends[index];
    }
    return;
  }
}

}  // namespace lodestone::engine
