// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/partition.hpp"

#include "engine/core/error.hpp"
#include "engine/dist/collectives/collectives.hpp"
#include "engine/dist/work.hpp"
#include "engine/graph/op_info.hpp"
#include "engine/ops/attributes.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/record.hpp"
#include "engine/record/tuple.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::engine {
namespace {

/// Returns an instruction of a cut program with what it needs and gives.
Work work_of(const CutProgram& cut, std::size_t i) {
  const Instruction& its = cut.program.instructions()[i];
  return {cut.program,
          its,
          axis_map_of(cut.program, its),
          cut.table.labels[i],
          std::span(cut.table.values).subspan(its.first_result, its.n_results),
          cut.mesh};
}

/// Returns true if every rank has what it needs.
bool all_contain(const Boxes& have, const Boxes& need) {
  for (std::size_t i = 0; i < have.size(); ++i) {
    if (!have[i].contains(need[i])) return false;
  }
  return true;
}

StepPtr step_of(const DeviceMesh& mesh, const Boxes& have, const Boxes& need) {
  std::vector<Holding> from, to;
  for (std::size_t i = 0; i < have.size(); ++i) {
    const int rank = mesh.ranks()[i];
    from.push_back({rank, have[i], 0, mesh.node_of(rank)});
    to.push_back({rank, need[i], 0, mesh.node_of(rank)});
  }
  return std::make_shared<const RouteStep>(step_between(from, to));
}

/// Returns the elements of a box of x, which has those of another one.
Tensor part_of(const Tensor& x, const Box& held, const Box& box, std::source_location where) {
  if (held == box) return x;
  Tensor part = x;
  if (box.is_empty()) {  // it may lie anywhere
    if (!held.is_empty()) part = slice({part, where}, 0, 0, 0);
    return part.shape() == box.shape ? part : reshape({part, where}, box.shape);
  }
  const Box inner = within(box, held);
  for (int axis = 0; axis < box.rank(); ++axis) {
    if (inner.first[axis] != 0 || inner.shape[axis] != held.shape[axis])
      part = slice({part, where}, axis, inner.first[axis], inner.end(axis));
  }
  return part;
}

/// Returns x as an array without gaps, a copy if it has some. Kernels add in the order of memory, which would
/// otherwise depend on what a rank has beside a leaf.
Tensor without_gaps(const Tensor& x, std::source_location where) {
  static const OpInfo& reshape = op_named("reshape");
  return record(reshape, {x}, make_attrs(ShapeAttrs{x.shape()}), where);
}

/// A value as this rank has it, with the boxes of all.
struct HeldValue {
  Tensor tensor;
  Boxes boxes;
  std::vector<std::pair<Boxes, Tensor>> moved = {};  ///< as it was needed elsewhere
};

/// A sum over shards whose terms have been recorded, and which nobody has needed yet.
struct OpenSum {
  ValueId value = 0;
  Tensor terms;  ///< along axis 0
  GroupPtr group;
  std::source_location where;
};
/// Sums of as many bytes wait for others, with which they share a message.
constexpr std::size_t most_bytes_of_open_sum = std::size_t{1} << 16;

/// Records what this rank does.
class Recorder {
 public:
  Recorder(const CutProgram& cut, const World& world) : cut_(cut), world_(world), held_(n_values()) {
    const auto& ranks = cut.mesh.ranks();
    place_ = static_cast<std::size_t>(std::ranges::find(ranks, world->rank()) - ranks.begin());
    everyone_ =
        std::make_shared<const Group>(world, cut.mesh, IntList::counting(cut.mesh.n_axes()), Agreement::done);
  }

  [[nodiscard]] Tensors run(const Tensors& inputs) {
    const Program& program = cut_.program;
    for (ValueId id = 0; id < program.n_inputs(); ++id)
      held_[id] = {inputs[id], boxes_of(cut_.inputs[id], shape(id), cut_.mesh)};
    for (ValueId id = 0; id < held_.size(); ++id) {
      const Value& value = program.values()[id];
      if (value.from == Value::From::constant) held_[id] = {program.constants()[value.of], whole(id)};
    }
    for (std::size_t i = 0; i < program.instructions().size(); ++i) run(work_of(cut_, i));
    Tensors outputs;
    for (std::size_t i = 0; i < program.outputs().size(); ++i) {
      const ValueId id = program.outputs()[i];
      outputs.push_back(is_array(id) ? in_boxes(id, boxes_of(cut_.outputs[i], shape(id), cut_.mesh), {})
                                     : held_[id].tensor);
    }
    return outputs;
  }

 private:
  [[nodiscard]] std::size_t n_values() const { return cut_.program.values().size(); }
  [[nodiscard]] const Shape& shape(ValueId id) const { return cut_.program.values()[id].aval.shape; }
  [[nodiscard]] bool is_array(ValueId id) const { return cut_.program.values()[id].aval.kind == Kind::array; }
  [[nodiscard]] Boxes whole(ValueId id) const {
    return Boxes(cut_.mesh.ranks().size(), Box::whole(shape(id)));
  }
  [[nodiscard]] GroupPtr group(const IntList& axes) const {
    return std::make_shared<const Group>(world_, cut_.mesh, axes, Agreement::done);
  }

  /// Returns the box of a value that this rank needs, when all ranks need these.
  Tensor in_boxes(ValueId id, const Boxes& need, std::source_location where) {
    HeldValue& held = held_[id];
    if (std::ranges::any_of(open_sums_, [&](const OpenSum& each) { return each.value == id; }))
      make_open_sums();
    if (held.boxes == need) return held.tensor;
    for (const auto& [boxes, tensor] : held.moved) {
      if (boxes == need) return tensor;
    }
    Tensor tensor = moved({held.tensor, where}, held.boxes, need);
    held.moved.emplace_back(need, tensor);
    return tensor;
  }

  [[nodiscard]] Tensor moved(const Located& x, const Boxes& have, const Boxes& need) const {
    if (all_contain(have, need)) return part_of(x.tensor, have[place_], need[place_], x.where);
    return exchange(x, everyone_, step_of(cut_.mesh, have, need));
  }

  void run(const Work& work) {
    const Instruction& its = work.instruction;
    const auto operands = cut_.program.operands(its);
    Tensors in;
    for (std::size_t k = 0; k < operands.size(); ++k)
      in.push_back(is_array(operands[k]) ? in_boxes(operands[k], work.needs[k], its.where)
                                         : held_[operands[k]].tensor);
    std::vector<AxisRange> places = places_of_rank(work.map, work.cuts, cut_.mesh, world_->rank());
    Tensors results = by_leaf(work, in, places, 0);
    for (std::uint32_t k = 0; k < its.n_results; ++k) {
      const ValueId id = its.first_result + k;
      if (!is_array(id)) {
        held_[id] = {results[k], {}};
        continue;
      }
      const Boxes wanted = boxes_of(cut_.table.values[id], shape(id), cut_.mesh);
      if (may_wait(work, id, work.gives[k] == wanted)) {
        const int label = work.reduced()[0];
        open_sums_.push_back(
            {id, results[k], group(work.cuts[static_cast<std::size_t>(label)].axes), its.where});
        held_[id] = {Tensor(), wanted};
        continue;
      }
      const Tensor combined = with_terms_combined(work, results[k]);
      held_[id] = {moved({combined, its.where}, work.gives[k], wanted), wanted};
    }
  }

  /// Returns results for places of which those of the first labels are leaves. Terms of reduced labels lie
  /// along axes in front.
  [[nodiscard]] Tensors by_leaf(const Work& work, const Tensors& in, std::vector<AxisRange>& places,
                                std::size_t n_set) const {
    if (n_set == work.by_leaf.size()) return of_leaf(work, in, places);
    const int label = work.by_leaf[n_set];
    const std::source_location where = work.instruction.where;
    std::vector<Tensors> parts(work.instruction.n_results);
    for (const AxisRange& leaf : work.leaves(label, world_->rank())) {
      places[static_cast<std::size_t>(label)] = leaf;
      const Tensors results = by_leaf(work, in, places, n_set + 1);
      for (std::size_t k = 0; k < results.size(); ++k) parts[k].push_back(results[k]);
    }
    Tensors joined;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      int axis = 0;
      if (work.label(label).kind == Label::Kind::reduced) {
        for (Tensor& each : parts[k]) each = reshape({each, where}, each.shape().inserted(0, 1));
      } else {
        const IntList& labels = work.map.outputs[k];
        axis = static_cast<int>(std::ranges::find(labels, label) - labels.begin());
      }
      joined.push_back(parts[k].size() == 1 ? parts[k][0] : concatenate(parts[k], axis, where));
    }
    return joined;
  }

  [[nodiscard]] Tensors of_leaf(const Work& work, const Tensors& in,
                                const std::vector<AxisRange>& places) const {
    const Instruction& its = work.instruction;
    const Boxes boxes = operand_boxes(work.map, places);
    Tensors parts = in;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      if (parts[k].aval().kind != Kind::array) continue;
      parts[k] = part_of(parts[k], work.needs[k][place_], boxes[k], its.where);
      if (!its.op->is_exact_when_cut()) parts[k] = without_gaps(parts[k], its.where);
    }
    const Tensor out = record(*its.op, parts, attrs_of_part(work.map, its.attrs, places), its.where);
    return its.op->results ? elements_of(out, its.where) : Tensors{out};
  }

  /// Returns whether a result is a small sum over shards that stays where it arises.
  [[nodiscard]] bool may_wait(const Work& work, ValueId id, bool stays) const {
    const std::vector<int> labels = work.reduced();
    return stays && labels.size() == 1 && work.map.combine == Combine::sum && work.scattered_axis < 0 &&
           group(work.cuts[static_cast<std::size_t>(labels[0])].axes)->n_shards() > 1 &&
           cut_.program.values()[id].aval.bytes() <= most_bytes_of_open_sum;
  }

  /// Makes all open sums, those of one group and dtype in one. Their elements add as they would alone.
  void make_open_sums() {
    while (!open_sums_.empty()) {
      const OpenSum first = open_sums_.front();
      std::vector<OpenSum> together;
      std::erase_if(open_sums_, [&](const OpenSum& each) {
        const bool fits = *each.group == *first.group && each.terms.dtype() == first.terms.dtype() &&
                          each.terms.device() == first.terms.device();
        if (fits) together.push_back(each);
        return fits;
      });
      if (together.size() == 1) {
        held_[first.value].tensor = all_reduce_shards({first.terms, first.where}, first.group, Terms::sum);
        continue;
      }
      Tensors flat;
      for (const OpenSum& each : together) {
        const Shape item = each.terms.shape().erased(0);
        flat.push_back(reshape({each.terms, each.where}, Shape{each.terms.dim(0), item.count()}));
      }
      const Tensor sums =
          all_reduce_shards({concatenate(flat, 1, first.where), first.where}, first.group, Terms::sum);
      Dim at = 0;
      for (const OpenSum& each : together) {
        const Shape item = each.terms.shape().erased(0);
        held_[each.value].tensor =
            reshape({slice({sums, each.where}, 0, at, at + item.count()), each.where}, item);
        at += item.count();
      }
    }
  }

  /// Combines the terms that lie along the first axes, label by label.
  [[nodiscard]] Tensor with_terms_combined(const Work& work, Tensor x) const {
    const std::vector<int> labels = work.reduced();
    const Terms how = work.map.combine == Combine::sum   ? Terms::sum
                      : work.map.combine == Combine::max ? Terms::max
                                                         : Terms::min;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const GroupPtr those = group(work.cuts[static_cast<std::size_t>(labels[i])].axes);
      const Located at(x, work.instruction.where);
      const bool is_last = i + 1 == labels.size();
      if (those->n_shards() == 1) {
        x = reshape(at, x.shape().erased(0));
      } else if (is_last && work.scattered_axis >= 0) {
        x = reduce_scatter_shards(at, those, work.scattered_axis, work.scattered.grain);
      } else {
        x = all_reduce_shards(at, those, how);
      }
    }
    return x;
  }

  const CutProgram& cut_;
  const World& world_;
  std::vector<HeldValue> held_;
  std::vector<OpenSum> open_sums_;
  std::size_t place_ = 0;
  GroupPtr everyone_;
};

/// Counts the bytes of moves.
class Counter {
 public:
  explicit Counter(const CutProgram& cut) : cut_(cut), seen_(cut.program.values().size()) {}

  [[nodiscard]] Movement run() {
    const Program& program = cut_.program;
    for (ValueId id = 0; id < seen_.size(); ++id) {
      const Value& value = program.values()[id];
      if (value.aval.kind != Kind::array) continue;
      const MeshLayout& layout = value.from == Value::From::result  ? cut_.table.values[id]
                                 : value.from == Value::From::input ? cut_.inputs[value.of]
                                                                    : whole_of(id);
      seen_[id].push_back(boxes_of(layout, value.aval.shape, cut_.mesh));
    }
    Movement result;
    for (std::size_t i = 0; i < program.instructions().size(); ++i)
      result.instructions.push_back(of_instruction(work_of(cut_, i)));
    for (std::size_t i = 0; i < program.outputs().size(); ++i) {
      const ValueId id = program.outputs()[i];
      if (is_array(id)) result.outputs += to(id, boxes_of(cut_.outputs[i], aval(id).shape, cut_.mesh));
    }
    return result;
  }

 private:
  [[nodiscard]] const Aval& aval(ValueId id) const { return cut_.program.values()[id].aval; }
  [[nodiscard]] bool is_array(ValueId id) const { return aval(id).kind == Kind::array; }
  [[nodiscard]] const MeshLayout& whole_of(ValueId id) {
    return whole_ = whole_layout(aval(id).shape.rank(), cut_.mesh);
  }

  [[nodiscard]] std::int64_t item(ValueId id) const {
    return static_cast<std::int64_t>(core::size_of(aval(id).dtype));
  }
  [[nodiscard]] std::int64_t bytes(ValueId id, const Boxes& have, const Boxes& need) const {
    return missing(have, need) * item(id);
  }

  /// Returns the bytes that bring a value to these boxes, unless it was brought there before.
  [[nodiscard]] std::int64_t to(ValueId id, const Boxes& need) {
    if (std::ranges::find(seen_[id], need) != seen_[id].end()) return 0;
    seen_[id].push_back(need);
    return bytes(id, seen_[id][0], need);
  }

  [[nodiscard]] std::int64_t of_instruction(const Work& work) {
    std::int64_t n = 0;
    const auto operands = cut_.program.operands(work.instruction);
    for (std::size_t k = 0; k < operands.size(); ++k) {
      if (is_array(operands[k])) n += to(operands[k], work.needs[k]);
    }
    for (std::uint32_t k = 0; k < work.instruction.n_results; ++k) {
      const ValueId id = work.instruction.first_result + k;
      if (!is_array(id)) continue;
      n += std::llround(work.combined_elements(k) * static_cast<double>(item(id)));
      n += bytes(id, work.gives[k], seen_[id][0]);
    }
    return n;
  }

  const CutProgram& cut_;
  std::vector<std::vector<Boxes>> seen_;  ///< the first boxes of a value, and those it was moved to
  MeshLayout whole_;
};

}  // namespace

Function partition(std::shared_ptr<const CutProgram> cut, World world) {
  return [cut = std::move(cut), world = std::move(world)](const Tensors& inputs) {
    return Recorder(*cut, world).run(inputs);
  };
}

Movement movement_of(const CutProgram& cut) { return Counter(cut).run(); }

}  // namespace lodestone::engine
