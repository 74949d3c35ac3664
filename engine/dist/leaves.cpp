// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/leaves.hpp"

#include "engine/compile/cost.hpp"
#include "engine/graph/op_info.hpp"
#include "engine/record/tuple.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

void make_whole(AxisMap& map) {
  for (Label& label : map.labels) label.kind = Label::Kind::whole;
}

/// Returns the places between two boundaries of a label, as many parts as there are ranks or shards.
AxisRange part_of(const std::vector<Dim>& ends, int i) {
  const auto at = static_cast<std::size_t>(i);
  return {ends[at], ends[at + 1] - ends[at]};
}

}  // namespace

AxisMap axis_map_of(const Program& program, const Instruction& instruction) {
  std::vector<Aval> in;
  bool has_arrays_only = true;
  for (const ValueId id : program.operands(instruction)) in.push_back(program.values()[id].aval);
  for (std::uint32_t i = 0; i < instruction.n_results; ++i)
    has_arrays_only =
        has_arrays_only && program.values()[instruction.first_result + i].aval.kind == Kind::array;
  const Aval first = program.values()[instruction.first_result].aval;
  const Aval out = instruction.op->results ? tuple_aval(first.device) : first;
  AxisMap map = instruction.op->axis_map({in, out, instruction.attrs.get()});
  if (instruction.is_effect || !has_arrays_only || map.outputs.size() != instruction.n_results)
    make_whole(map);
  // A result without a free label would come once per leaf, each with bits of its own.
  for (std::size_t label = 0; label < map.labels.size(); ++label) {
    Label::Kind& kind = map.labels[label].kind;
    const auto lacks = [&](const IntList& axes) { return !axes.contains(static_cast<Dim>(label)); };
    if (kind == Label::Kind::free && std::ranges::any_of(map.outputs, lacks)) kind = Label::Kind::whole;
  }
  for (std::size_t i = 0; i < in.size(); ++i) {
    for (std::size_t label = 0; label < map.labels.size() && in[i].kind != Kind::array; ++label) {
      if (map.depends_on(i, static_cast<int>(label))) map.labels[label].kind = Label::Kind::whole;
    }
  }
  return map;
}

bool can_cut(const OpInfo& op, const AxisMap& map, int label, const Cut& cut, const DeviceMesh& mesh) {
  const Label& its = map.labels[static_cast<std::size_t>(label)];
  if (its.kind == Label::Kind::whole || its.extent < 1) return false;
  const bool is_reduced = its.kind == Label::Kind::reduced;
  for (const IntList& axes : map.outputs) {
    if (is_reduced && axes.size() + mesh.n_axes() > IntList::max_size) return false;
  }
  if (op.op_class != OpClass::window && (!is_reduced || map.combine == Combine::sum)) return true;
  const int n = mesh.shards_along(cut.axes);
  const std::vector<Dim> ends = boundaries(its.extent, n, n, cut.grain);
  return std::ranges::adjacent_find(ends) == ends.end();
}

bool runs_by_leaf(const OpInfo& op, const Label& label) {
  return label.kind == Label::Kind::reduced || !op.is_exact_when_cut();
}

std::vector<AxisRange> places_of_rank(const AxisMap& map, const LabelCuts& cuts, const DeviceMesh& mesh,
                                      int rank) {
  std::vector<AxisRange> places = map.all();
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    const auto& [axes, grain] = cuts[i];
    if (axes.empty()) continue;
    const std::vector<Dim> ends =
        boundaries(map.labels[i].extent, mesh.size_along(axes), mesh.shards_along(axes), grain);
    places[i] = part_of(ends, mesh.index_along(rank, axes));
  }
  return places;
}

std::vector<AxisRange> leaves_of_rank(const Label& label, const Cut& cut, const DeviceMesh& mesh, int rank) {
  const int n = mesh.shards_along(cut.axes), n_ranks = mesh.size_along(cut.axes);
  const std::vector<Dim> ends = boundaries(label.extent, n, n, cut.grain);
  const std::vector<Dim> first = boundaries(n, n_ranks, n);
  const auto index = static_cast<std::size_t>(mesh.index_along(rank, cut.axes));
  std::vector<AxisRange> leaves;
  for (Dim i = first[index]; i < first[index + 1]; ++i) leaves.push_back(part_of(ends, static_cast<int>(i)));
  return leaves;
}

Box box_of_result(const AxisMap& map, std::size_t result, const Shape& shape,
                  std::span<const AxisRange> places) {
  const bool is_known = result < map.outputs.size() && map.outputs[result].size() == shape.rank();
  return is_known ? result_box(map, result, places) : Box::whole(shape);
}

MeshLayout layout_of_result(const AxisMap& map, std::size_t result, const Shape& shape, const LabelCuts& cuts,
                            const DeviceMesh& mesh) {
  MeshLayout layout = whole_layout(shape.rank(), mesh);
  if (result >= map.outputs.size() || map.outputs[result].size() != shape.rank()) return layout;
  for (int axis = 0; axis < shape.rank(); ++axis)
    layout.cuts[static_cast<std::size_t>(axis)] = cuts[static_cast<std::size_t>(map.outputs[result][axis])];
  return layout;
}

double operations_of(const Program& program, const Instruction& instruction) {
  std::vector<const Aval*> in;
  for (const ValueId id : program.operands(instruction)) in.push_back(&program.values()[id].aval);
  return flops_of(*instruction.op, instruction.attrs.get(), in,
                  program.values()[instruction.first_result].aval, instruction.where);
}

DeviceMesh mesh_of_shards(const DeviceMesh& mesh) {
  std::vector<MeshAxis> axes = mesh.axes();
  for (MeshAxis& axis : axes) axis.size = axis.n_shards();
  return DeviceMesh(std::move(axes));
}

}  // namespace lodestone::engine
