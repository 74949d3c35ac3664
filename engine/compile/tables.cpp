// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/tables.hpp"

#include "engine/compile/elementwise.hpp"
#include "engine/compile/fused_op.hpp"
#include "engine/compile/live_bytes.hpp"
#include "engine/program/rebuilt.hpp"

#include <algorithm>
#include <map>

namespace lodestone::engine {
namespace {

using Number = std::uint32_t;  // of an instruction

/// An instruction as a part of a table.
struct Member {
  Number number;
  Elementwise computed;
};

/// The instructions of one launch.
struct Table {
  Number turn;                  ///< that of the last one, where all run
  std::vector<Member> members;  ///< in their order
};

/// Finds the tables of a program, from the last instruction to the first.
class Tabling {
 public:
  explicit Tabling(const Program& program);
  [[nodiscard]] Program run() const;

 private:
  [[nodiscard]] std::vector<bool> used() const;
  [[nodiscard]] bool waits(std::span<const ValueId> operands, Number turn);
  void write(Rebuilt& rebuilt, const Table& table) const;

  const Program& program_;
  LiveBytes lives_;
  std::map<ValueId, Number> end_;  ///< by root: behind its last use, where a table has put that off
  std::vector<Table> tables_;
};

Tabling::Tabling(const Program& program) : program_(program), lives_(program) {
  const std::vector<bool> is_used = used();
  const auto device_of = [&](Number number) {
    return program_.values()[program_.instructions()[number].first_result].aval.device;
  };
  std::vector<Table> open;  // of this region, one per device
  const auto close = [&] {
    for (Table& each : open) {
      std::ranges::reverse(each.members);
      if (each.members.size() > 1) tables_.push_back(std::move(each));
    }
    open.clear();
  };
  for (Number i = static_cast<Number>(program_.instructions().size()); i-- > 0;) {
    const Instruction& each = program_.instructions()[i];
    if (each.is_effect || each.op->run) close();
    const auto result = is_used.begin() + each.first_result;
    if (std::find(result, result + each.n_results, true) != result + each.n_results) continue;
    auto computed = elementwise(program_, each);
    if (!computed || computed->operands.empty()) continue;
    const auto is_here = [&](const Table& table) { return device_of(table.turn) == device_of(i); };
    auto table = std::ranges::find_if(open, is_here);
    if (table == open.end()) table = open.insert(table, {i, {}});
    if (waits(computed->operands, table->turn)) table->members.push_back({i, *std::move(computed)});
  }
  close();
}

std::vector<bool> Tabling::used() const {
  std::vector<bool> result(program_.values().size(), false);
  for (const Instruction& each : program_.instructions()) {
    for (const ValueId id : program_.operands(each)) result[id] = true;
  }
  return result;
}

/// Returns whether what needs these values may run later without raising the peak, and then counts them as
/// alive until there.
bool Tabling::waits(std::span<const ValueId> operands, Number turn) {
  std::vector<LiveBytes::Change> changes;
  std::vector<ValueId> roots;  // of each change
  for (const ValueId id : operands) {
    const ValueId root = lives_.root(id);
    if (lives_.first(root) == LiveBytes::never || std::ranges::find(roots, root) != roots.end()) continue;
    const auto put_off = end_.find(root);
    const Number end = put_off == end_.end() ? lives_.last(root) + 1 : put_off->second;
    if (end > turn) continue;
    roots.push_back(root);
    changes.push_back({end, turn + 1, static_cast<std::ptrdiff_t>(program_.values()[root].aval.bytes())});
  }
  if (lives_.is_most(changes)) return false;
  lives_.add(changes);
  for (const ValueId root : roots) end_[root] = turn + 1;
  return true;
}

void Tabling::write(Rebuilt& rebuilt, const Table& table) const {
  TileAttrs attrs;
  std::vector<ValueId> operands, given;
  std::vector<Aval> results;
  for (const auto& [number, computed] : table.members) {
    const Instruction& each = program_.instructions()[number];
    attrs.programs.push_back(std::make_shared<const cpu_backend::TileProgram>(computed.expr));
    for (const ValueId id : computed.operands) operands.push_back(rebuilt.of(id));
    for (ValueId id = each.first_result; id < each.first_result + each.n_results; ++id) {
      given.push_back(id);
      results.push_back(program_.values()[id].aval);
    }
  }
  Instruction made = program_.instructions()[table.turn];
  made.op = &fused_op();
  made.attrs = make_attrs(std::move(attrs));
  const ValueId first = rebuilt.add(std::move(made), operands, results);
  for (std::uint32_t i = 0; i < given.size(); ++i) rebuilt.replace(given[i], first + i);
}

Program Tabling::run() const {
  std::vector<const Table*> table_of(program_.instructions().size(), nullptr);
  for (const Table& table : tables_) {
    for (const Member& member : table.members) table_of[member.number] = &table;
  }
  Rebuilt rebuilt(program_);
  for (Number i = 0; i < table_of.size(); ++i) {
    if (table_of[i] == nullptr)
      rebuilt.copy(program_.instructions()[i]);
    else if (table_of[i]->turn == i)
      write(rebuilt, *table_of[i]);
  }
  return rebuilt.program();
}

}  // namespace

Program tabled(const Program& program, std::span<const Strides>) { return Tabling(program).run(); }

}  // namespace lodestone::engine
