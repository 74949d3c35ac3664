// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/propagate.hpp"

#include "engine/core/error.hpp"
#include "engine/dist/collectives/collective_ops.hpp"
#include "engine/graph/op_info.hpp"
#include "engine/record/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

namespace lodestone::engine {
namespace {

/// Operations that cost as much as a byte that is received.
constexpr double operations_per_byte = 16.0;

bool is_cut(const MeshLayout& layout) {
  return std::ranges::any_of(layout.cuts, [](const Cut& cut) { return !cut.axes.empty(); });
}
bool is_cut(const LabelCuts& cuts) {
  return std::ranges::any_of(cuts, [](const Cut& cut) { return !cut.axes.empty(); });
}

/// Cuts that one operand or result proposes.
struct Proposal {
  ValueId from;
  LabelCuts cuts;
};

/// Returns whether a mesh axis of a cut cuts another label already.
bool is_used(const LabelCuts& cuts, std::size_t label, const Cut& cut) {
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    for (const Dim axis : cuts[i].axes) {
      if (i != label && cut.axes.contains(axis)) return true;
    }
  }
  return false;
}

/// Adds the cuts of a proposal that fit to those there are. Returns whether all did.
bool add(LabelCuts& cuts, const LabelCuts& more) {
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

std::int64_t missing(const Box& need, const Box& held) {
  return need.count() - intersection(need, held).count();
}

class Propagation {
 public:
  Propagation(const Program& program, const DeviceMesh& mesh, const LayoutTask& task)
      : program_(program), mesh_(mesh), shards_(mesh_of_shards(mesh)), task_(task) {
    const std::size_t n_values = program.values().size(), n = program.instructions().size();
    known_.resize(n_values);
    users_.resize(n_values);
    is_everywhere_.resize(n_values);
    is_decided_.resize(n);
    table_.labels.resize(n);
    table_.reasons.resize(n);
    for (ValueId id = 0; id < n_values; ++id)
      is_everywhere_[id] = program.values()[id].from != Value::From::result &&
                           std::ranges::find(task.held_in_pieces, id) == task.held_in_pieces.end();
    for (std::size_t i = 0; i < n; ++i) {
      check(program.instructions()[i]);
      maps_.push_back(axis_map_of(program, program.instructions()[i]));
      for (const ValueId id : program.operands(program.instructions()[i])) users_[id].push_back(i);
    }
  }

  [[nodiscard]] LayoutTable run() {
    for (const PinnedValue& each : task_.pins) fix(each.value, each.layout);
    for (;;) {
      std::set<std::size_t>& next = cheap_.empty() ? heavy_ : cheap_;
      if (next.empty()) break;
      const std::size_t i = *next.begin();
      next.erase(next.begin());
      if (!is_decided_[i]) decide(i);
    }
    for (std::size_t i = 0; i < is_decided_.size(); ++i) {
      if (!is_decided_[i]) settle(i, LabelCuts(maps_[i].labels.size()), "no operand is cut");
    }
    for (ValueId id = 0; id < known_.size(); ++id)
      table_.values.push_back(known_[id] ? *known_[id] : whole_layout(shape(id).rank(), mesh_));
    return std::move(table_);
  }

 private:
  [[nodiscard]] const Shape& shape(ValueId id) const { return program_.values()[id].aval.shape; }
  [[nodiscard]] const Instruction& instruction(std::size_t i) const { return program_.instructions()[i]; }

  static void check(const Instruction& each) {
    if (crossing_of(each.attrs.get(), *each.op))
      throw core::InvalidArgument("parallelize#collective",
                                  "expected a function for one machine, got {} in it; use per_rank for "
                                  "functions that call collectives {}",
                                  each.op->name, at_line(each.where));
  }

  /// Gives a value its layout, unless it has one, and remembers whom that may tell something.
  void fix(ValueId id, const MeshLayout& layout) {
    if (known_[id] || program_.values()[id].aval.kind != Kind::array) return;
    known_[id] = layout;
    if (!is_cut(layout)) return;
    for (const auto& [before, after] : task_.cells) {
      if (before == id) fix(after, layout);
      if (after == id) fix(before, layout);
    }
    const Value& value = program_.values()[id];
    if (value.from == Value::From::result) remember(value.of);
    for (const std::size_t user : users_[id]) remember(user);
  }

  void remember(std::size_t i) {
    const OpClass its = instruction(i).op->op_class;
    if (!is_decided_[i])
      (its == OpClass::elementwise || its == OpClass::movement ? cheap_ : heavy_).insert(i);
  }

  /// Returns the cut of a label that the cut of an axis of an operand proposes.
  [[nodiscard]] Cut cut_of_label(const AxisAccess& access, const Label& label, const Cut& cut) const {
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
  [[nodiscard]] static Cut cut_of_axis(const AxisAccess& access, const Cut& cut) {
    using enum AxisAccess::How;
    if (access.how == same) return cut;
    if (access.how == blocks && (cut.grain * access.stride) % access.divisor == 0)
      return {cut.axes, cut.grain * access.stride / access.divisor};
    if (access.is_sampled()) return {cut.axes, 1};
    return {};
  }

  void propose(std::vector<Proposal>& all, std::size_t i, ValueId id, LabelCuts cuts) const {
    for (std::size_t label = 0; label < cuts.size(); ++label) {
      if (!cuts[label].axes.empty() &&
          !can_cut(*instruction(i).op, maps_[i], static_cast<int>(label), cuts[label], mesh_))
        cuts[label] = {};
    }
    if (is_cut(cuts)) all.push_back({id, std::move(cuts)});
  }

  [[nodiscard]] std::vector<Proposal> proposals(std::size_t i) const {
    const AxisMap& map = maps_[i];
    std::vector<Proposal> all;
    const auto operands = program_.operands(instruction(i));
    for (std::size_t k = 0; k < operands.size(); ++k) {
      if (!known_[operands[k]]) continue;
      LabelCuts cuts(map.labels.size());
      for (std::size_t axis = 0; axis < map.inputs[k].size(); ++axis) {
        const AxisAccess& access = map.inputs[k][axis];
        const Cut& cut = known_[operands[k]]->cuts[axis];
        if (access.label < 0 || cut.axes.empty()) continue;
        const auto label = static_cast<std::size_t>(access.label);
        LabelCuts one(map.labels.size());
        one[label] = cut_of_label(access, map.labels[label], cut);
        add(cuts, one);
      }
      propose(all, i, operands[k], std::move(cuts));
    }
    for (std::uint32_t k = 0; k < instruction(i).n_results && k < map.outputs.size(); ++k) {
      const ValueId id = instruction(i).first_result + k;
      if (!known_[id] || map.outputs[k].size() != shape(id).rank()) continue;
      LabelCuts cuts(map.labels.size());
      for (int axis = 0; axis < shape(id).rank(); ++axis) {
        const auto label = static_cast<std::size_t>(map.outputs[k][axis]);
        const Cut& cut = known_[id]->cuts[static_cast<std::size_t>(axis)];
        if (!cut.axes.empty()) cuts[label] = {cut.axes, std::lcm(cut.grain, map.labels[label].grain)};
      }
      propose(all, i, id, std::move(cuts));
    }
    return all;
  }

  /// Returns bytes that all shards receive, and repeated work as bytes.
  [[nodiscard]] double price(std::size_t i, const LabelCuts& cuts) const {
    const AxisMap& map = maps_[i];
    const auto operands = program_.operands(instruction(i));
    double bytes = 0.0;
    for (int rank = 0; rank < shards_.size(); ++rank) {
      const std::vector<AxisRange> places = places_of_rank(map, cuts, shards_, rank);
      const std::vector<Box> boxes = operand_boxes(map, places);
      for (std::size_t k = 0; k < operands.size(); ++k) {
        if (known_[operands[k]] && !is_everywhere_[operands[k]])
          bytes += item(operands[k]) * static_cast<double>(missing(boxes[k], held(operands[k], rank)));
      }
      for (std::uint32_t k = 0; k < instruction(i).n_results; ++k) {
        const ValueId id = instruction(i).first_result + k;
        if (known_[id])
          bytes += item(id) *
                   static_cast<double>(missing(held(id, rank), box_of_result(map, k, shape(id), places)));
        bytes += combining(i, id, cuts) / shards_.size();
      }
    }
    return bytes + repeated(i, cuts) / operations_per_byte;
  }

  [[nodiscard]] double item(ValueId id) const {
    return static_cast<double>(core::size_of(program_.values()[id].aval.dtype));
  }
  [[nodiscard]] Box held(ValueId id, int rank) const { return box_of(*known_[id], shape(id), shards_, rank); }

  /// Returns the bytes that shards receive while terms of reduced labels combine. A result that is cut by the
  /// same mesh axes takes half of them.
  [[nodiscard]] double combining(std::size_t i, ValueId id, const LabelCuts& cuts) const {
    double bytes = 0.0;
    for (std::size_t label = 0; label < cuts.size(); ++label) {
      if (cuts[label].axes.empty() || maps_[i].labels[label].kind != Label::Kind::reduced) continue;
      const double g = shards_.size_along(cuts[label].axes);
      const bool is_scattered = known_[id] && std::ranges::any_of(known_[id]->cuts, [&](const Cut& cut) {
                                  return cut.axes == cuts[label].axes;
                                });
      double elements = static_cast<double>(shape(id).count());
      for (const Cut& other : layout_of_result(maps_[i], 0, shape(id), cuts, mesh_).cuts)
        elements /= shards_.size_along(other.axes);
      bytes += item(id) * elements * (is_scattered ? 1.0 : 2.0) * (g - 1.0) / g * shards_.size();
    }
    return bytes;
  }

  /// Returns the operations that shards do beside those that one machine would do.
  [[nodiscard]] double repeated(std::size_t i, const LabelCuts& cuts) const {
    double n = 1.0;
    for (const Cut& cut : cuts) n *= shards_.size_along(cut.axes);
    return operations_of(program_, instruction(i)) * (shards_.size() / n - 1.0);
  }

  void decide(std::size_t i) {
    const std::vector<Proposal> all = proposals(i);
    if (all.empty()) return;  // settled with the rest, unless another value tells more
    std::vector<LabelCuts> candidates;
    bool agree = true;
    for (std::size_t first = 0; first < all.size(); ++first) {
      LabelCuts cuts = all[first].cuts;
      bool fit = true;
      for (const Proposal& each : all) fit = add(cuts, each.cuts) && fit;
      for (std::size_t label = 0; label < cuts.size(); ++label) {
        // A coarser grain than any proposed may leave nothing for a leaf.
        if (!cuts[label].axes.empty() &&
            !can_cut(*instruction(i).op, maps_[i], static_cast<int>(label), cuts[label], mesh_))
          cuts[label] = {};
      }
      agree = agree && fit;
      candidates.push_back(std::move(cuts));
      if (fit) break;
    }
    if (agree) return settle(i, candidates[0], fmt::format("follows %{}", all[0].from));
    settle_cheapest(i, all, std::move(candidates));
  }

  void settle_cheapest(std::size_t i, const std::vector<Proposal>& all, std::vector<LabelCuts> candidates) {
    candidates.emplace_back(maps_[i].labels.size());
    std::size_t best = 0;
    double least = 0.0;
    std::string prices;
    for (std::size_t k = 0; k < candidates.size(); ++k) {
      const double its = price(i, candidates[k]);
      prices += fmt::format("{}{} {:.0f} B", prices.empty() ? "" : ", ",
                            k < all.size() && k + 1 < candidates.size() ? fmt::format("%{}", all[k].from)
                                                                        : std::string("whole"),
                            its);
      if (k > 0 && its >= least) continue;
      best = k;
      least = its;
    }
    const std::string winner =
        best + 1 < candidates.size() ? fmt::format("follows %{}", all[best].from) : std::string("whole");
    settle(i, candidates[best], fmt::format("{}, conflict: {}", winner, prices));
  }

  /// Fixes the cuts of an instruction, its results and those of its operands that have no layout yet.
  void settle(std::size_t i, const LabelCuts& cuts, std::string reason) {
    is_decided_[i] = true;
    table_.labels[i] = cuts;
    table_.reasons[i] = std::move(reason);
    if (!is_cut(cuts)) return;
    const AxisMap& map = maps_[i];
    const auto operands = program_.operands(instruction(i));
    for (std::uint32_t k = 0; k < instruction(i).n_results; ++k) {
      const ValueId id = instruction(i).first_result + k;
      fix(id, layout_of_result(map, k, shape(id), cuts, mesh_));
    }
    for (std::size_t k = 0; k < operands.size(); ++k) {
      if (known_[operands[k]] || program_.values()[operands[k]].aval.kind != Kind::array) continue;
      MeshLayout layout = whole_layout(shape(operands[k]).rank(), mesh_);
      for (std::size_t axis = 0; axis < layout.cuts.size(); ++axis) {
        const AxisAccess& access = map.inputs[k][axis];
        if (access.label < 0) continue;
        const Cut cut = cut_of_axis(access, cuts[static_cast<std::size_t>(access.label)]);
        if (!cut.axes.empty() && !is_used(layout.cuts, axis, cut)) layout.cuts[axis] = cut;
      }
      if (is_cut(layout)) fix(operands[k], layout);
    }
  }

  const Program& program_;
  const DeviceMesh& mesh_;
  const DeviceMesh shards_;
  const LayoutTask& task_;
  std::vector<AxisMap> maps_;
  std::vector<std::vector<std::size_t>> users_;
  std::vector<std::optional<MeshLayout>> known_;
  std::vector<bool> is_everywhere_, is_decided_;
  std::set<std::size_t> cheap_, heavy_;
  LayoutTable table_;
};

}  // namespace

LayoutTable propagate(const Program& program, const DeviceMesh& mesh, const LayoutTask& task) {
  return Propagation(program, mesh, task).run();
}

}  // namespace lodestone::engine
