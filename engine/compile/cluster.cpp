// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/cluster.hpp"

#include "engine/compile/fused_op.hpp"
#include "engine/compile/number_of.hpp"
#include "engine/compile/schedule.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/program/rebuilt.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace lodestone::engine {
namespace {

using Number = std::uint32_t;  // of an instruction

/// Facts about an instruction, and the cluster it is in so far.
struct Part {
  const Kernel* kernel = nullptr;  ///< null: it stays alone
  Number region = 0;               ///< counts the functions and effects before it
  Number cluster = 0;              ///< the first instruction of its cluster
  std::uint64_t visit = 0;
  std::vector<Number> users;
};

/// Merges instructions with those that make their operands, from the first one on.
class Clustering {
 public:
  Clustering(const Program& program, const ClusterLimits& limits);
  [[nodiscard]] Program run();

 private:
  // Facts.
  [[nodiscard]] const Kernel* kernel_of(const Instruction& each) const;
  [[nodiscard]] std::optional<Number> producer(ValueId id) const;
  void see_through_reshapes();
  [[nodiscard]] bool is_in(ValueId id, Number cluster) const;
  [[nodiscard]] bool leaves(Number number, Number a, Number b) const;

  // Merging.
  void merge_with_producers(Number number);
  [[nodiscard]] bool may_merge(Number a, Number b);
  [[nodiscard]] bool fits(Number a, Number b) const;
  [[nodiscard]] bool comes_back(Number a, Number b);
  void merge(Number a, Number b);

  // The new program.
  void fuse(Rebuilt& rebuilt, const std::vector<Number>& members) const;

  const Program& program_;
  const ClusterLimits limits_;
  std::vector<Part> parts_;                   // by instruction
  std::vector<std::vector<Number>> members_;  // by cluster, ascending
  std::vector<bool> is_output_;               // by value
  std::vector<ValueId> same_as_;  // by value: what has its elements in the same order, before reshapes
  std::uint64_t visit_ = 0;
};

Clustering::Clustering(const Program& program, const ClusterLimits& limits)
    : program_(program),
      limits_(limits),
      parts_(program.instructions().size()),
      members_(program.instructions().size()),
      is_output_(program.values().size(), false) {
  for (const ValueId id : program.outputs()) is_output_[id] = true;
  Number region = 0;
  for (Number i = 0; i < parts_.size(); ++i) {
    const Instruction& each = program.instructions()[i];
    const bool is_border = each.is_effect || each.op->run;
    region += is_border ? 1 : 0;
    parts_[i].region = region;
    parts_[i].cluster = i;
    parts_[i].kernel = is_border ? nullptr : kernel_of(each);
    members_[i] = {i};
  }
  see_through_reshapes();
}

/// Finds who uses what. What kernels of clusters give has no gaps, so that a reshape of it is nothing to do:
/// who uses that uses the other.
void Clustering::see_through_reshapes() {
  static const OpInfo& reshape = op_named("reshape");
  for (ValueId id = 0; id < program_.values().size(); ++id) same_as_.push_back(id);
  for (Number i = 0; i < parts_.size(); ++i) {
    const Instruction& each = program_.instructions()[i];
    for (const ValueId id : program_.operands(each)) {
      const auto from = producer(same_as_[id]);
      if (!from) continue;
      if (each.op == &reshape && parts_[*from].kernel != nullptr) {
        same_as_[each.first_result] = same_as_[id];
        if (is_output_[each.first_result]) is_output_[same_as_[id]] = true;
      } else {
        parts_[*from].users.push_back(i);
      }
    }
  }
}

/// Returns the kernel of an instruction that may be part of a cluster, or null.
const Kernel* Clustering::kernel_of(const Instruction& each) const {
  if (each.op->op_class != OpClass::elementwise || each.op->view != nullptr || each.n_results != 1 ||
      each.n_operands == 0)
    return nullptr;
  const Aval& out = program_.values()[each.first_result].aval;
  const Aval& first = program_.values()[program_.operands(each)[0]].aval;
  if (out.device.kind != Device::Kind::cpu || out.kind != Kind::array || out.count() == 0) return nullptr;
  const Kernel& kernel = each.op->kernel(out.device.kind, first.dtype);
  return has_expression(kernel) ? &kernel : nullptr;
}

std::optional<Number> Clustering::producer(ValueId id) const {
  const Value& value = program_.values()[id];
  return value.from == Value::From::result ? std::optional<Number>(value.of) : std::nullopt;
}

bool Clustering::is_in(ValueId id, Number cluster) const {
  const auto from = producer(same_as_[id]);
  return from && parts_[*from].kernel != nullptr && parts_[*from].cluster == cluster;
}

/// Returns whether an instruction of two clusters gives what others need, too.
bool Clustering::leaves(Number number, Number a, Number b) const {
  const auto is_outside = [&](Number user) { return parts_[user].cluster != a && parts_[user].cluster != b; };
  return is_output_[program_.instructions()[number].first_result] ||
         std::ranges::any_of(parts_[number].users, is_outside);
}

void Clustering::merge_with_producers(Number number) {
  const Instruction& each = program_.instructions()[number];
  for (const ValueId id : program_.operands(each)) {
    const auto from = producer(same_as_[id]);
    if (!from || parts_[*from].kernel == nullptr) continue;
    const Number a = parts_[*from].cluster, b = parts_[number].cluster;
    if (a != b && may_merge(a, b)) merge(a, b);
  }
}

bool Clustering::may_merge(Number a, Number b) {
  const auto aval_of = [&](Number cluster) -> const Aval& {
    return program_.values()[program_.instructions()[cluster].first_result].aval;
  };
  return parts_[a].region == parts_[b].region && aval_of(a).count() == aval_of(b).count() &&
         aval_of(a).device == aval_of(b).device && fits(a, b) && !comes_back(a, b);
}

bool Clustering::fits(Number a, Number b) const {
  constexpr std::size_t codes_of_expression = 6;  // at most
  std::size_t n_codes = 0, n_outputs = 0;
  std::set<ValueId> operands;
  for (const Number cluster : {a, b}) {
    for (const Number number : members_[cluster]) {
      n_codes += parts_[number].kernel->expression != nullptr ? codes_of_expression : 1;
      n_outputs += leaves(number, a, b) ? 1 : 0;
      for (const ValueId id : program_.operands(program_.instructions()[number])) {
        if (!is_in(id, a) && !is_in(id, b) && !number_of(program_, id)) operands.insert(id);
      }
    }
  }
  return n_codes <= limits_.codes && n_outputs <= limits_.outputs && operands.size() <= limits_.operands &&
         !operands.empty();
}

/// Returns whether a path leads from two clusters through others back to them. Instructions behind both
/// belong to no cluster yet, so that no path comes back from there.
bool Clustering::comes_back(Number a, Number b) {
  const Number last = std::max(members_[a].back(), members_[b].back());
  ++visit_;
  std::vector<Number> open;
  const auto go_on_from = [&](Number cluster) {
    for (const Number member : members_[cluster]) {
      for (const Number user : parts_[member].users) {
        if (user <= last) open.push_back(user);
      }
    }
  };
  const auto is_own = [&](Number number) {
    return parts_[number].cluster == a || parts_[number].cluster == b;
  };
  go_on_from(a);
  go_on_from(b);
  std::erase_if(open, is_own);
  while (!open.empty()) {
    const Number cluster = parts_[open.back()].cluster;
    open.pop_back();
    if (is_own(cluster)) return true;
    if (parts_[cluster].visit == visit_) continue;
    parts_[cluster].visit = visit_;
    go_on_from(cluster);
  }
  return false;
}

void Clustering::merge(Number a, Number b) {
  const Number into = std::min(a, b), other = std::max(a, b);
  for (const Number member : members_[other]) parts_[member].cluster = into;
  std::vector<Number> merged;
  std::ranges::merge(members_[into], members_[other], std::back_inserter(merged));
  members_[into] = std::move(merged);
  members_[other].clear();
}

/// Adds the instruction that a cluster becomes.
void Clustering::fuse(Rebuilt& rebuilt, const std::vector<Number>& members) const {
  ExprWriter writer;
  std::map<ValueId, ExprId> expr_of;  // of what the members give
  std::map<std::pair<ValueId, std::string>, ExprId> loads;
  std::vector<ValueId> operands, stored;
  std::vector<Aval> results;
  const Number cluster = members.front();
  const auto load = [&](ValueId id, const IntList& from, const Shape& shape) {
    const DType dtype = program_.values()[id].aval.dtype;
    if (const auto element = number_of(program_, id)) return writer.number(*element, dtype);
    const auto [at, is_new] = loads.try_emplace({id, from.text() + shape.text()}, ExprId{});
    if (is_new) {
      at->second = writer.load(dtype, from, shape);
      operands.push_back(rebuilt.of(id));
    }
    return at->second;
  };
  for (const Number number : members) {
    const Instruction& each = program_.instructions()[number];
    const Aval& out = program_.values()[each.first_result].aval;
    std::vector<Aval> avals;
    for (const ValueId id : program_.operands(each)) avals.push_back(program_.values()[id].aval);
    const AxisMap map = each.op->axis_map({avals, out, each.attrs.get()});
    std::vector<ExprId> in;
    for (std::size_t i = 0; i < avals.size(); ++i) {
      const ValueId id = program_.operands(each)[i];
      in.push_back(is_in(id, cluster) ? expr_of.at(same_as_[id]) : load(id, map.inputs[i].from, out.shape));
    }
    expr_of[each.first_result] = append(writer, *parts_[number].kernel, each.attrs.get(), in, out.dtype);
    if (!leaves(number, cluster, cluster)) continue;
    writer.store(expr_of[each.first_result], out.shape);
    stored.push_back(each.first_result);
    results.push_back(out);
  }
  const auto program = std::make_shared<const cpu_backend::TileProgram>(writer.expr());
  Instruction made = program_.instructions()[members.back()];
  made.op = &fused_op();
  made.attrs = make_attrs(TileAttrs{program});
  const ValueId first = rebuilt.add(std::move(made), operands, results);
  for (std::uint32_t i = 0; i < stored.size(); ++i) rebuilt.replace(stored[i], first + i);
}

Program Clustering::run() {
  for (Number i = 0; i < parts_.size(); ++i) {
    if (parts_[i].kernel != nullptr) merge_with_producers(i);
  }
  std::vector<Number> unit_of;
  for (const Part& each : parts_) unit_of.push_back(each.cluster);
  Rebuilt rebuilt(program_);
  for (const std::vector<Number>& unit : scheduled(program_, unit_of, same_as_)) {
    if (unit.size() == 1)
      rebuilt.copy(program_.instructions()[unit[0]]);
    else
      fuse(rebuilt, unit);
  }
  return rebuilt.program();
}

}  // namespace

Program clustered(const Program& program, const ClusterLimits& limits) {
  return Clustering(program, limits).run();
}

}  // namespace lodestone::engine
