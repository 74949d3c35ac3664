// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/propagate.hpp"

#include "engine/core/error.hpp"
#include "engine/dist/collectives/collective_ops.hpp"
#include "engine/dist/label_cuts.hpp"
#include "engine/dist/work.hpp"
#include "engine/graph/op_info.hpp"
#include "engine/record/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

namespace lodestone::engine {
namespace {

/// Cuts that one operand or result proposes.
struct Proposal {
  ValueId from;
  LabelCuts cuts;
};

class Propagation {
 public:
  Propagation(const Program& program, const DeviceMesh& mesh, const LayoutTask& task)
      : program_(program), mesh_(mesh), shards_(mesh_of_shards(mesh)), task_(task) {
    check_for_one_machine(program);
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

  [[nodiscard]] std::vector<Proposal> proposals(std::size_t i) const {
    const AxisMap& map = maps_[i];
    std::vector<Proposal> all;
    const auto propose = [&](ValueId id, LabelCuts cuts) {
      if (is_cut(cuts)) all.push_back({id, std::move(cuts)});
    };
    const auto operands = program_.operands(instruction(i));
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const auto& known = known_[operands[k]];
      if (known) propose(operands[k], cuts_of_operand(*instruction(i).op, map, k, *known, mesh_));
    }
    for (std::uint32_t k = 0; k < instruction(i).n_results; ++k) {
      const ValueId id = instruction(i).first_result + k;
      if (known_[id]) propose(id, cuts_of_result(*instruction(i).op, map, k, *known_[id], mesh_));
    }
    return all;
  }

  /// Returns bytes that all shards receive, and repeated work as bytes.
  [[nodiscard]] double price(std::size_t i, const LabelCuts& cuts) const {
    const Instruction& its = instruction(i);
    const auto operands = program_.operands(its);
    std::vector<MeshLayout> wanted;
    for (std::uint32_t k = 0; k < its.n_results; ++k) {
      const ValueId id = its.first_result + k;
      wanted.push_back(known_[id] ? *known_[id] : layout_of_result(maps_[i], k, shape(id), cuts, mesh_));
    }
    const Work work(program_, its, maps_[i], cuts, wanted, shards_);
    double bytes = 0.0;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      if (known_[operands[k]] && !is_everywhere_[operands[k]])
        bytes += item(operands[k]) * static_cast<double>(missing(held(operands[k]), work.needs[k]));
    }
    for (std::uint32_t k = 0; k < its.n_results; ++k) {
      const ValueId id = its.first_result + k;
      bytes += item(id) * work.combined_elements(k);
      if (known_[id]) bytes += item(id) * static_cast<double>(missing(work.gives[k], held(id)));
    }
    return bytes + repeated_operations(operations_of(program_, its), cuts, shards_) / operations_per_byte;
  }

  [[nodiscard]] double item(ValueId id) const {
    return static_cast<double>(core::size_of(program_.values()[id].aval.dtype));
  }
  [[nodiscard]] Boxes held(ValueId id) const { return boxes_of(*known_[id], shape(id), shards_); }

  void decide(std::size_t i) {
    const std::vector<Proposal> all = proposals(i);
    if (all.empty()) return;  // settled with the rest, unless another value tells more
    std::vector<LabelCuts> candidates;
    bool agree = true;
    for (std::size_t first = 0; first < all.size(); ++first) {
      LabelCuts cuts = all[first].cuts;
      bool fit = true;
      for (const Proposal& each : all) fit = add_cuts(cuts, each.cuts) && fit;
      // A coarser grain than any proposed may leave nothing for a leaf.
      drop_impossible(cuts, *instruction(i).op, maps_[i], mesh_);
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
      const MeshLayout layout = layout_of_operand(map, k, shape(operands[k]), cuts, mesh_);
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

void check_for_one_machine(const Program& program) {
  for (const Instruction& each : program.instructions()) {
    if (crossing_of(each.attrs.get(), *each.op))
      throw core::InvalidArgument("parallelize#collective",
                                  "expected a function for one machine, got {} in it; use per_rank for "
                                  "functions that call collectives {}",
                                  each.op->name, at_line(each.where));
  }
}

LayoutTable propagate(const Program& program, const DeviceMesh& mesh, const LayoutTask& task) {
  return Propagation(program, mesh, task).run();
}

}  // namespace lodestone::engine
