// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/random_loads.hpp"

#include "engine/backend/cpu/philox.hpp"
#include "engine/compile/elementwise.hpp"
#include "engine/compile/fused_op.hpp"
#include "engine/compile/hooked_kernel.hpp"
#include "engine/compile/live_bytes.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/program/rebuilt.hpp"
#include "engine/tile/strided_walk.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace lodestone::engine {
namespace {

using Number = std::uint32_t;  // of an instruction

constexpr Dim n_of_key = 3;

/// A value as a look at the words of an instruction.
struct Seen {
  Number by;
  Look look;
};

/// Random words of a program, and whether the one instruction that needs them makes them.
struct Drawn {
  bool is_load = true;
  std::optional<Number> user;
};

class Drawing {
 public:
  explicit Drawing(const Program& program);
  [[nodiscard]] Program run();

 private:
  [[nodiscard]] const Aval& aval(ValueId id) const { return program_.values()[id].aval; }
  [[nodiscard]] ValueId key_of(Number drawn) const {
    return program_.operands(program_.instructions()[drawn])[0];
  }

  // Facts.
  void look_at(Number number);
  void see_view(const Instruction& each, const Seen& in);
  [[nodiscard]] std::optional<Look> look(const Instruction& each, const Look& in) const;
  [[nodiscard]] std::optional<Elementwise> reader(const Instruction& each) const;
  [[nodiscard]] std::optional<Expr::Words> words(const Seen& seen, ValueId id, const Expr::Load& load) const;
  void decide();

  // The new program.
  [[nodiscard]] bool is_load(ValueId id) const { return seen_[id] && drawn_.at(seen_[id]->by).is_load; }
  [[nodiscard]] Elementwise with_words(const Elementwise& read) const;
  void write(Rebuilt& rebuilt, const Instruction& each, Elementwise made) const;

  const Program& program_;
  std::vector<std::optional<Seen>> seen_;  // by value
  std::map<Number, Drawn> drawn_;
};

Drawing::Drawing(const Program& program) : program_(program), seen_(program.values().size()) {
  for (Number i = 0; i < program.instructions().size(); ++i) look_at(i);
  for (const ValueId id : program.outputs()) {
    if (seen_[id]) drawn_.at(seen_[id]->by).is_load = false;
  }
  decide();
}

// ---- Facts -----------------------------------------------------------------------------------------------

/// Notes what an instruction draws, or how it uses what others have drawn.
void Drawing::look_at(Number number) {
  static const OpInfo& random_bits = op_named("random_bits");
  const Instruction& each = program_.instructions()[number];
  if (each.op == &random_bits) {
    const Aval& out = aval(each.first_result);
    if (out.device.kind != Device::Kind::cpu || out.count() == 0) return;
    seen_[each.first_result] = Seen{number, Look::dense(out.shape)};
    drawn_[number];
  }
  const std::span<const ValueId> in = program_.operands(each);
  const auto is_seen = [&](ValueId id) { return seen_[id].has_value(); };
  if (std::ranges::none_of(in, is_seen)) return;
  if (each.op->view != nullptr && in.size() == 1) return see_view(each, *seen_[in[0]]);
  const auto read = reader(each);
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (!seen_[in[i]]) continue;
    Drawn& drawn = drawn_.at(seen_[in[i]]->by);
    drawn.is_load = drawn.is_load && read && drawn.user.value_or(number) == number;
    drawn.user = number;
  }
  for (std::size_t i = 0; read && i < read->operands.size(); ++i) {
    const ValueId id = read->operands[i];
    if (seen_[id] && !words(*seen_[id], id, read->expr.loads[i])) drawn_.at(seen_[id]->by).is_load = false;
  }
}

void Drawing::see_view(const Instruction& each, const Seen& in) {
  if (const auto seen = look(each, in.look))
    seen_[each.first_result] = Seen{in.by, *seen};
  else
    drawn_.at(in.by).is_load = false;
}

/// Returns how a view sees words. Other than in memory, a reshape of one of every few is none that copies.
std::optional<Look> Drawing::look(const Instruction& each, const Look& in) const {
  static const OpInfo& reshape = op_named("reshape");
  const Aval &before = aval(program_.operands(each)[0]), &after = aval(each.first_result);
  const auto same = each.op->view(before, in, each.attrs.get(), after);
  if (same || each.op != &reshape) return same;
  const View view{nullptr, &before, &in.strides};
  const auto step =
      cpu_backend::StridedWalk(view, IntList::counting(before.shape.rank()), before.shape).step();
  if (!step) return std::nullopt;
  Look result{in.offset, contiguous_strides(after.shape)};
  for (int axis = 0; axis < after.shape.rank(); ++axis) result.strides[axis] *= *step;
  return result;
}

/// Returns what makes words if it needs them: a cluster, alone or read by a reduction, or an elementwise
/// instruction.
std::optional<Elementwise> Drawing::reader(const Instruction& each) const {
  if (each.op != &hooked_kernel_op()) return elementwise(program_, each);
  const std::span<const ValueId> in = program_.operands(each);
  const Hooks& hooks = attrs_as<HookedAttrs>(*each.attrs).hooks;
  if (hooks.before == nullptr || hooks.before->expr().loads.size() != in.size()) return std::nullopt;
  return Elementwise{hooks.before->expr(), {in.begin(), in.end()}};
}

/// Returns a load of words as words, if it sees them in their order.
std::optional<Expr::Words> Drawing::words(const Seen& seen, ValueId id, const Expr::Load& load) const {
  const View view{nullptr, &aval(id), &seen.look.strides};
  const std::optional<Dim> step = cpu_backend::StridedWalk(view, load.from, load.shape).step();
  const Dim n_keys = aval(key_of(seen.by)).count() / n_of_key;
  const Dim per_key = aval(program_.instructions()[seen.by].first_result).count() / n_keys;
  const bool fits = step && *step > 0 && *step <= cpu_backend::longest_step_of_words &&
                    (n_keys == 1 || per_key % *step == 0);
  return fits ? std::optional(Expr::Words{0, 0, seen.look.offset, *step, per_key}) : std::nullopt;
}

/// Keeps as arrays what lets keys live too long.
void Drawing::decide() {
  LiveBytes lives(program_);
  std::map<ValueId, LiveBytes::Number> end_of;  // behind the last use, by root of a key
  for (auto& [number, drawn] : drawn_) {
    drawn.is_load = drawn.is_load && drawn.user;
    const ValueId out = program_.instructions()[number].first_result, key = lives.root(key_of(number));
    if (!drawn.is_load) continue;
    const auto bytes = [&](ValueId id) { return static_cast<std::ptrdiff_t>(aval(id).bytes()); };
    const LiveBytes::Number end = *drawn.user + 1;
    std::vector<LiveBytes::Change> changes{{number, end, -bytes(out)}};
    if (lives.first(key) != LiveBytes::never) {
      LiveBytes::Number& old_end = end_of.try_emplace(key, lives.last(key) + 1).first->second;
      if (old_end < end) changes.push_back({old_end, end, bytes(key)});
      drawn.is_load = !lives.is_most(changes);
      if (drawn.is_load) old_end = std::max(old_end, end);
    }
    if (drawn.is_load) lives.add(changes);
  }
}

// ---- The new program -------------------------------------------------------------------------------------

/// Lets an expression make its words: their loads become those of keys, each once.
Elementwise Drawing::with_words(const Elementwise& read) const {
  Elementwise made{read.expr, {}};
  Expr& expr = made.expr;
  expr.loads.clear();
  std::vector<std::uint16_t> load_of;  // by load of before
  std::map<ValueId, std::uint16_t> load_of_key;
  const auto add = [&](ValueId id, const Expr::Load& load) {
    made.operands.push_back(id);
    expr.loads.push_back(load);
    return static_cast<std::uint16_t>(expr.loads.size() - 1);
  };
  for (std::size_t i = 0; i < read.operands.size(); ++i) {
    const ValueId id = read.operands[i];
    if (!is_load(id)) {
      load_of.push_back(add(id, read.expr.loads[i]));
      continue;
    }
    const ValueId key = key_of(seen_[id]->by);
    const auto [at, is_new] = load_of_key.try_emplace(key, std::uint16_t{0});
    const Shape& shape = aval(key).shape;
    if (is_new) at->second = add(key, {IntList::filled(shape.rank(), AxisMap::added), shape});
    load_of.push_back(at->second);
  }
  for (ExprId id = 0; id < expr.values.size(); ++id) {
    Expr::Value& value = expr.values[id];
    if (value.from != Expr::Value::From::load) continue;
    const std::uint16_t before = value.of;
    const ValueId operand = read.operands[before];
    value.of = load_of[before];
    if (!is_load(operand)) continue;
    Expr::Words words = *this->words(*seen_[operand], operand, read.expr.loads[before]);
    words.load = load_of[before];
    words.out = id;
    value.from = Expr::Value::From::words;
    value.of = static_cast<std::uint16_t>(expr.words.size());
    expr.words.push_back(words);
  }
  return made;
}

/// Adds an instruction that makes its words.
void Drawing::write(Rebuilt& rebuilt, const Instruction& each, Elementwise made) const {
  Instruction instruction = each;
  auto program = std::make_shared<const cpu_backend::TileProgram>(std::move(made.expr));
  if (each.op == &hooked_kernel_op()) {
    HookedAttrs attrs = attrs_as<HookedAttrs>(*each.attrs);
    attrs.hooks.before = std::move(program);
    instruction.attrs = make_attrs(std::move(attrs));
  } else {
    instruction.op = &fused_op();
    instruction.attrs = make_attrs(TileAttrs{{std::move(program)}});
  }
  std::vector<Aval> results;
  for (std::uint32_t i = 0; i < each.n_results; ++i) results.push_back(aval(each.first_result + i));
  for (ValueId& id : made.operands) id = rebuilt.of(id);
  const ValueId first = rebuilt.add(std::move(instruction), made.operands, results);
  for (std::uint32_t i = 0; i < each.n_results; ++i) rebuilt.replace(each.first_result + i, first + i);
}

Program Drawing::run() {
  const auto makes_words = [&](ValueId id) { return is_load(id); };
  if (std::ranges::none_of(drawn_, [](const auto& each) { return each.second.is_load; })) return program_;
  Rebuilt rebuilt(program_);
  for (const Instruction& each : program_.instructions()) {
    if (each.n_results == 1 && is_load(each.first_result)) continue;
    if (std::ranges::any_of(program_.operands(each), makes_words))
      write(rebuilt, each, with_words(*reader(each)));
    else
      rebuilt.copy(each);
  }
  return rebuilt.program();
}

}  // namespace

Program with_random_loads(const Program& program) { return Drawing(program).run(); }

}  // namespace lodestone::engine
