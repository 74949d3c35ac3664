// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/hooks.hpp"

#include "engine/compile/elementwise.hpp"
#include "engine/compile/fused_op.hpp"
#include "engine/compile/hooked_kernel.hpp"
#include "engine/compile/live_bytes.hpp"
#include "engine/compile/number_of.hpp"
#include "engine/compile/schedule.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/program/rebuilt.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

namespace lodestone::engine {
namespace {

using Number = std::uint32_t;  // of an instruction

/// An instruction that may run with a kernel: behind it, with its result as this operand, or before it, with
/// this output as the operand of the kernel.
struct Candidate {
  enum class Side : std::uint8_t { before, behind };
  Side side;
  Number kernel, other;
  std::size_t number;  ///< the operand or output, counted from 0
  std::size_t saved;   ///< bytes that are not moved
};

/// A kernel with what runs before and behind it.
struct Hooked {
  std::optional<Candidate> before, behind;
};

/// The instruction that these become, on values of the program.
struct Unit {
  HookedAttrs attrs;
  std::vector<ValueId> in, out;
};

class Hooking {
 public:
  Hooking(const Program& program, std::span<const Strides> inputs, const HookLimits& limits);
  [[nodiscard]] Program run();

 private:
  [[nodiscard]] const Instruction& instruction(Number number) const {
    return program_.instructions()[number];
  }
  [[nodiscard]] const Aval& aval(ValueId id) const { return program_.values()[id].aval; }
  [[nodiscard]] std::span<const ValueId> operands(Number number) const {
    return program_.operands(instruction(number));
  }

  // Facts.
  void see_through_reshapes();
  [[nodiscard]] const Kernel* kernel_with_hooks(Number number) const;
  [[nodiscard]] std::optional<Elementwise> elementwise(Number number) const {
    return engine::elementwise(program_, instruction(number));
  }
  [[nodiscard]] std::optional<Number> maker(ValueId id) const;
  [[nodiscard]] bool is_needed(ValueId root, Number but_by) const;
  [[nodiscard]] bool runs_on(Number number, const Device& device) const;

  // Memory.
  void look_at_values(std::span<const Strides> inputs);
  void count_memory();
  [[nodiscard]] std::ptrdiff_t workspace_of(const OpInfo& op, const Attrs* attrs, std::span<const ValueId> in,
                                            std::span<const ValueId> out) const;
  [[nodiscard]] std::vector<ValueId> replaced_by(Number number) const;

  // Candidates.
  void find_behind(Number kernel);
  void find_before(Number kernel);
  [[nodiscard]] bool takes_in_place(const Elementwise& other, std::size_t load, const Aval& result,
                                    Dim at_once) const;

  // Merging.
  void try_merge(const Candidate& each);
  [[nodiscard]] bool has_detour(Number from, Number to) const;
  [[nodiscard]] std::optional<Number> turn_of(Number from, Number to) const;
  [[nodiscard]] std::vector<LiveBytes::Change> changes(Number from, Number to, Number turn,
                                                       ValueId handed) const;

  // The new program.
  [[nodiscard]] Unit unit(Number kernel, const Hooked& with) const;
  void write(Rebuilt& rebuilt, Number kernel) const;

  const Program& program_;
  const HookLimits limits_;
  LiveBytes lives_;
  std::vector<Number> regions_;                 // by instruction: functions and effects before it
  std::vector<ValueId> same_as_;                // by value: what has its elements in the same order
  std::vector<std::vector<Number>> users_;      // by instruction
  std::vector<Number> unit_of_;                 // by instruction: the kernel that it runs with, or itself
  std::vector<std::vector<Number>> members_;    // by unit
  std::vector<Number> merged_;                  // units of several instructions
  std::vector<Look> looks_;                     // by value, at its root
  std::vector<std::vector<ValueId>> replaced_;  // by instruction: roots in whose places it writes
  std::vector<std::ptrdiff_t> workspaces_;      // by unit
  std::vector<Number> turns_;                   // by unit: the instruction in whose turn it runs
  std::vector<bool> is_output_;                 // by root
  std::vector<Hooked> hooked_;                  // by instruction
  std::vector<Candidate> candidates_;
};

Hooking::Hooking(const Program& program, std::span<const Strides> inputs, const HookLimits& limits)
    : program_(program),
      limits_(limits),
      lives_(program),
      users_(program.instructions().size()),
      is_output_(program.values().size(), false),
      hooked_(program.instructions().size()) {
  for (const ValueId id : program.outputs()) is_output_[lives_.root(id)] = true;
  Number region = 0;
  for (Number i = 0; i < program.instructions().size(); ++i) {
    region += instruction(i).is_effect || instruction(i).op->run ? 1 : 0;
    regions_.push_back(region);
    unit_of_.push_back(i);
    turns_.push_back(i);
    members_.push_back({i});
  }
  see_through_reshapes();
  for (Number i = 0; i < program.instructions().size(); ++i) {
    if (same_as_[instruction(i).first_result] != instruction(i).first_result) continue;
    for (const ValueId id : operands(i)) {
      if (const auto from = maker(same_as_[id])) users_[*from].push_back(i);
    }
  }
  look_at_values(inputs);
  count_memory();
}

std::optional<Number> Hooking::maker(ValueId id) const {
  const Value& value = program_.values()[id];
  return value.from == Value::From::result ? std::optional<Number>(value.of) : std::nullopt;
}

/// Finds values that only have another shape: kernels give arrays without gaps.
void Hooking::see_through_reshapes() {
  static const OpInfo& reshape = op_named("reshape");
  for (ValueId id = 0; id < program_.values().size(); ++id) {
    same_as_.push_back(id);
    const auto from = maker(id);
    if (!from || instruction(*from).op != &reshape) continue;
    const ValueId before = same_as_[operands(*from)[0]];
    if (maker(before) && lives_.root(before) == before) same_as_[id] = before;
  }
}

// ---- Memory ----------------------------------------------------------------------------------------------

void Hooking::look_at_values(std::span<const Strides> inputs) {
  for (const Value& each : program_.values()) {
    looks_.push_back(Look::dense(each.aval.shape));
    if (each.from == Value::From::input) looks_.back().strides = inputs[each.of];
    if (each.from == Value::From::constant)
      looks_.back().strides = program_.constants()[each.of].node().look.strides;
    if (each.from != Value::From::result) continue;
    const Instruction& made_by = instruction(each.of);
    if (made_by.op->view == nullptr || made_by.n_operands != 1) continue;
    const ValueId in = operands(each.of)[0];
    if (const auto look = made_by.op->view(aval(in), looks_[in], made_by.attrs.get(), each.aval))
      looks_.back() = *look;
  }
}

/// Returns the bytes that the kernel of an op works in, but for tiles, which are of one size in every
/// program.
std::ptrdiff_t Hooking::workspace_of(const OpInfo& op, const Attrs* attrs, std::span<const ValueId> in,
                                     std::span<const ValueId> out) const {
  const Aval& first = aval(in.empty() ? out[0] : in[0]);
  const Kernel& kernel = op.kernel(aval(out[0]).device, first.dtype);
  if (kernel.workspace == nullptr) return 0;
  std::vector<View> views;
  for (const ValueId id : in) views.push_back({nullptr, &aval(id), &looks_[id].strides});
  for (const ValueId id : out) views.push_back({nullptr, &aval(id), &looks_[id].strides});
  const std::span<const View> all(views);
  const Workspace workspace = kernel.workspace({op, attrs, all.first(in.size()), all.subspan(in.size())});
  return static_cast<std::ptrdiff_t>(Scratch::bytes_of(workspace, Scratch::threads_of_call()));
}

/// Adds workspaces to what lives, and takes away what results write over.
void Hooking::count_memory() {
  for (Number i = 0; i < program_.instructions().size(); ++i) {
    const Instruction& each = instruction(i);
    workspaces_.push_back(0);
    replaced_.emplace_back();
    const bool is_kernel =
        !each.op->run && each.op->view == nullptr && aval(each.first_result).kind == Kind::array;
    if (!is_kernel) continue;
    std::vector<ValueId> out(each.n_results);
    std::iota(out.begin(), out.end(), each.first_result);
    workspaces_.back() = workspace_of(*each.op, each.attrs.get(), operands(i), out);
    replaced_.back() = replaced_by(i);
    lives_.add(i, i + 1, workspaces_.back());
    for (const ValueId root : replaced_.back())
      lives_.add(i, i + 1, -static_cast<std::ptrdiff_t>(aval(root).bytes()));
  }
  lives_.recount(limits_.small_peak);
}

/// Returns the roots that end with an instruction and in whose places its results are written.
std::vector<ValueId> Hooking::replaced_by(Number number) const {
  const Instruction& each = instruction(number);
  const std::span<const ValueId> in = operands(number);
  std::vector<ValueId> result;
  if (in.empty()) return result;
  const Kernel& kernel = each.op->kernel(aval(each.first_result).device, aval(in[0]).dtype);
  for (std::uint32_t output = 0; output < each.n_results; ++output) {
    const ValueId out = each.first_result + output;
    if (lives_.first(out) == LiveBytes::never) continue;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const ValueId root = lives_.root(in[i]);
      const auto is_it = [&](ValueId id) { return lives_.root(id) == root; };
      const bool fits = kernel.may_write_over(each.attrs.get(), i, output) &&
                        lives_.first(root) != LiveBytes::never && lives_.last(root) == number &&
                        same_as_[in[i]] == root && aval(root).bytes() == aval(out).bytes() &&
                        std::ranges::count_if(in, is_it) == 1;
      if (!fits || std::ranges::find(result, root) != result.end()) continue;
      result.push_back(root);
      break;
    }
  }
  return result;
}

// ---- Candidates ------------------------------------------------------------------------------------------

/// Returns the kernel of an instruction that takes a reader or a writer, or null.
const Kernel* Hooking::kernel_with_hooks(Number number) const {
  const Instruction& each = instruction(number);
  if (each.op->run || each.op->view != nullptr || each.n_operands == 0 || each.is_effect) return nullptr;
  if (each.op == &hooked_kernel_op() || each.op == &fused_op()) return nullptr;
  const Aval &out = aval(each.first_result), &first = aval(operands(number)[0]);
  const bool is_array = out.kind == Kind::array && first.kind == Kind::array;
  if (!is_array || out.device.kind != Device::Kind::cpu || out.count() == 0) return nullptr;
  const Kernel& kernel = each.op->kernel(out.device, first.dtype);
  return kernel.hands_over != nullptr || kernel.reads_by != nullptr ? &kernel : nullptr;
}

/// A call without memory on operands without gaps, for questions that shapes decide.
class ShapesOfCall {
 public:
  ShapesOfCall(const Program& program, const Instruction& each) {
    views_.reserve(each.n_operands + each.n_results);
    strides_.reserve(views_.capacity());
    for (const ValueId id : program.operands(each)) add(program.values()[id].aval);
    for (std::uint32_t i = 0; i < each.n_results; ++i) add(program.values()[each.first_result + i].aval);
    const std::span<const View> all(views_);
    call_.emplace(
        KernelCall{*each.op, each.attrs.get(), all.first(each.n_operands), all.subspan(each.n_operands)});
  }
  [[nodiscard]] const KernelCall& call() const { return *call_; }

 private:
  void add(const Aval& aval) {
    strides_.push_back(contiguous_strides(aval.shape));
    views_.push_back({nullptr, &aval, &strides_.back()});
  }
  std::vector<Strides> strides_;
  std::vector<View> views_;
  std::optional<KernelCall> call_;
};

/// Returns whether an expression takes a result element by element, in the order in which it lies. Pieces of
/// so many elements must be whole rows.
bool Hooking::takes_in_place(const Elementwise& other, std::size_t load, const Aval& result,
                             Dim at_once) const {
  const auto& [from, shape] = other.expr.loads[load];
  if (from != IntList::counting(from.size())) return false;
  const auto is_it = [&](const Expr::Value& value) {
    return value.from == Expr::Value::From::load && value.of == load;
  };
  const bool is_per_row = std::ranges::find_if(other.expr.values, is_it)->per_row;
  return shape == aval(other.operands[load]).shape && !is_per_row && shape.count() == result.count() &&
         at_once > 0 && at_once % other.expr.row == 0;
}

/// Returns the number of elementary functions.
std::size_t n_functions(const Expr& expr) {
  return static_cast<std::size_t>(std::ranges::count_if(expr.codes, [](const Expr::Code& code) {
    return code.body->text.find("vmath::") != std::string_view::npos;
  }));
}

/// Finds what takes the result of a kernel.
void Hooking::find_behind(Number kernel) {
  const Instruction& each = instruction(kernel);
  const Aval& result = aval(each.first_result);
  if (each.op->op_class == OpClass::reduction && result.bytes() < limits_.least_bytes) return;  // a norm
  const ShapesOfCall shapes(program_, each);
  const Dim at_once = kernel_with_hooks(kernel)->hands_over(shapes.call());
  for (const Number user : lives_.uses(each.first_result)) {
    const auto other = elementwise(user);
    if (!other || other->operands.size() > limits_.operands + 1 ||
        n_functions(other->expr) > limits_.functions)
      continue;
    const auto is_of_it = [&](ValueId id) { return lives_.root(id) == each.first_result; };
    if (std::ranges::count_if(other->operands, is_of_it) != 1) continue;
    const auto load =
        static_cast<std::size_t>(std::ranges::find_if(other->operands, is_of_it) - other->operands.begin());
    if (same_as_[other->operands[load]] != each.first_result || !runs_on(user, result.device) ||
        !takes_in_place(*other, load, result, at_once))
      continue;
    const std::size_t times = is_needed(each.first_result, user) ? 1 : 2;
    candidates_.push_back({Candidate::Side::behind, kernel, user, load, times * result.bytes()});
  }
}

/// Finds what makes the first operand of a kernel.
void Hooking::find_before(Number kernel) {
  const ValueId operand = operands(kernel)[0], root = same_as_[operand];
  const auto from = maker(root);
  if (!from || aval(operand).bytes() < limits_.least_bytes || is_needed(root, kernel)) return;
  const auto uses = lives_.uses(root);
  const auto other = elementwise(*from);
  if (!other || uses.size() != 1 || !runs_on(*from, aval(operand).device)) return;
  const ShapesOfCall shapes(program_, instruction(kernel));
  const Dim at_once = kernel_with_hooks(kernel)->reads_by(shapes.call());
  const std::size_t output = root - instruction(*from).first_result;
  const auto& [value, shape] = other->expr.stores[output];
  if (at_once == 0 || at_once % other->expr.row != 0 || other->expr.values[value].per_row) return;
  candidates_.push_back({Candidate::Side::before, kernel, *from, output, 2 * aval(operand).bytes()});
}

bool Hooking::runs_on(Number number, const Device& device) const {
  const Instruction& each = instruction(number);
  const auto is_there = [&](ValueId id) { return aval(id).device == device; };
  return std::ranges::all_of(operands(number), is_there) && is_there(each.first_result);
}

/// Returns whether others than an instruction need a value.
bool Hooking::is_needed(ValueId root, Number but_by) const {
  return is_output_[root] ||
         std::ranges::any_of(lives_.uses(root), [&](Number user) { return user != but_by; });
}

// ---- Merging ---------------------------------------------------------------------------------------------

/// Returns whether a path leads from one unit to another through a third one.
bool Hooking::has_detour(Number from, Number to) const {
  Number horizon = members_[to].back();  // instructions behind it lead to nothing before it
  for (bool grows = true; grows;) {
    grows = false;
    for (const Number merged : merged_) {
      const std::vector<Number>& unit = members_[merged];
      if (unit.front() > horizon || unit.back() <= horizon) continue;
      horizon = unit.back();
      grows = true;
    }
  }
  std::vector<bool> seen(members_.size(), false);
  std::vector<Number> open;
  const auto go_on_from = [&](Number unit) {
    for (const Number member : members_[unit]) {
      for (const Number user : users_[member]) {
        const Number next = unit_of_[user];
        if (next == from || seen[next] || members_[next].front() > horizon) continue;
        if (unit == from && next == to) continue;
        seen[next] = true;
        open.push_back(next);
      }
    }
  };
  go_on_from(from);
  while (!open.empty()) {
    const Number unit = open.back();
    open.pop_back();
    if (unit == to) return true;
    go_on_from(unit);
  }
  return false;
}

/// Returns in whose turn two instructions would run as one: in that of the second, or of an earlier one that
/// needs the first, if all that the second needs is there.
std::optional<Number> Hooking::turn_of(Number from, Number to) const {
  Number turn = turns_[unit_of_[to]];
  const Instruction& each = instruction(from);
  for (ValueId id = each.first_result; id < each.first_result + each.n_results; ++id) {
    for (const Number user : lives_.uses(id)) turn = std::min(turn, turns_[unit_of_[user]]);
  }
  for (const ValueId id : operands(to)) {
    const auto before = maker(lives_.root(id));
    if (before && *before != from && turns_[unit_of_[*before]] >= turn) return std::nullopt;
  }
  return turn;
}

/// Returns what it means for memory, but for workspaces.
std::vector<LiveBytes::Change> Hooking::changes(Number from, Number to, Number turn, ValueId handed) const {
  std::vector<LiveBytes::Change> result;
  const Number from_turn = turns_[unit_of_[from]], to_turn = turns_[unit_of_[to]];
  const auto bytes_of = [&](ValueId id) { return static_cast<std::ptrdiff_t>(aval(id).bytes()); };
  const auto is_replaced = [&](ValueId root, Number by) {
    return std::ranges::find(replaced_[by], root) != replaced_[by].end();
  };
  std::vector<ValueId> roots;  // that live longer
  for (const ValueId id : operands(from)) {
    const ValueId root = lives_.root(id);
    if (lives_.first(root) == LiveBytes::never || std::ranges::find(roots, root) != roots.end()) continue;
    roots.push_back(root);
    const Number end = is_replaced(root, from) ? from_turn : lives_.last(root) + 1;
    if (end < turn + 1) result.push_back({end, turn + 1, bytes_of(root)});
  }
  const auto each_result = [&](Number number, const auto& visit) {
    const Instruction& each = instruction(number);
    for (ValueId id = each.first_result; id < each.first_result + each.n_results; ++id) {
      if (lives_.first(id) != LiveBytes::never) visit(id);
    }
  };
  each_result(from, [&](ValueId id) {
    const bool is_gone = id == handed && !is_needed(handed, to);
    const Number end = !is_gone ? turn : is_replaced(id, to) ? to_turn : to_turn + 1;
    result.push_back({from_turn, end, -bytes_of(id)});
  });
  each_result(to, [&](ValueId id) { result.push_back({turn, to_turn, bytes_of(id)}); });
  for (const ValueId root : replaced_[to]) {
    if (root != handed) result.push_back({to_turn, to_turn + 1, bytes_of(root)});
  }
  return result;
}

void Hooking::try_merge(const Candidate& each) {
  const auto& [side, kernel, other, number, saved] = each;
  const bool is_behind = side == Candidate::Side::behind;
  Hooked with = hooked_[kernel];
  std::optional<Candidate>& place = is_behind ? with.behind : with.before;
  const bool is_taken = members_[other].empty() || hooked_[other].behind || hooked_[other].before;
  if (place || is_taken || regions_[kernel] != regions_[other]) return;
  place = each;
  const Number from = is_behind ? kernel : other, to = is_behind ? other : kernel;
  if (has_detour(unit_of_[from], unit_of_[to])) return;
  const auto turn = turn_of(from, to);
  if (!turn) return;
  const ValueId handed = instruction(from).first_result + static_cast<ValueId>(is_behind ? 0 : number);
  const Unit merged = unit(kernel, with);
  const auto is_own = [&](ValueId id) {
    const auto by = maker(lives_.root(id));
    return by && (*by == other || unit_of_[*by] == kernel);
  };
  if (std::ranges::any_of(merged.in, is_own)) return;  // it would take more of what it makes
  const AttrsPtr attrs = make_attrs(HookedAttrs(merged.attrs));
  const std::ptrdiff_t workspace = workspace_of(hooked_kernel_op(), attrs.get(), merged.in, merged.out);
  std::vector<LiveBytes::Change> all = changes(from, to, *turn, handed);
  for (const Number part : {kernel, other})
    all.push_back({turns_[part], turns_[part] + 1, -workspaces_[part]});
  all.push_back({*turn, *turn + 1, workspace});
  if (lives_.is_most(all)) return;
  lives_.add(all);
  hooked_[kernel] = with;
  workspaces_[kernel] = workspace;
  turns_[kernel] = *turn;
  replaced_[kernel].clear();
  if (members_[kernel].size() == 1) merged_.push_back(kernel);
  members_[kernel].push_back(other);
  std::ranges::sort(members_[kernel]);
  members_[other].clear();
  unit_of_[other] = kernel;
}

// ---- The new program -------------------------------------------------------------------------------------

cpu_backend::TileProgramPtr program_of(Expr expr) {
  return std::make_shared<const cpu_backend::TileProgram>(std::move(expr));
}

/// Returns an expression with another order of its loads, where `number` is the first one.
Expr with_first_load(Expr expr, std::size_t number) {
  std::rotate(expr.loads.begin(), expr.loads.begin() + static_cast<std::ptrdiff_t>(number),
              expr.loads.begin() + static_cast<std::ptrdiff_t>(number) + 1);
  for (Expr::Value& value : expr.values) {
    if (value.from != Expr::Value::From::load || value.of > number) continue;
    value.of = value.of == number ? std::uint16_t{0} : static_cast<std::uint16_t>(value.of + 1);
  }
  for (Expr::Words& each : expr.words) each.load += each.load < number ? 1 : 0;
  return expr;
}

Expr with_first_store(Expr expr, std::size_t number) {
  std::rotate(expr.stores.begin(), expr.stores.begin() + static_cast<std::ptrdiff_t>(number),
              expr.stores.begin() + static_cast<std::ptrdiff_t>(number) + 1);
  return expr;
}

Unit Hooking::unit(Number kernel, const Hooked& with) const {
  constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  const auto& [before, behind] = with;
  const Instruction& each = instruction(kernel);
  Unit result{{{each.op, each.attrs, {}, {}}, {}}, {}, {}};
  auto& [use, hooks] = result.attrs;
  for (const ValueId id : operands(kernel)) {
    use.operands.push_back(aval(id));
    if (!before || use.operands.size() > 1) result.in.push_back(id);
  }
  hooks.keeps = !behind || is_needed(each.first_result, behind->other);
  for (std::uint32_t i = 0; i < each.n_results; ++i) {
    use.results.push_back(aval(each.first_result + i));
    if (i > 0 || hooks.keeps) result.out.push_back(each.first_result + i);
  }
  const auto add = [&](Number other, const Elementwise& of, std::size_t no_operand, std::size_t no_output) {
    for (std::size_t i = 0; i < of.operands.size(); ++i) {
      if (i != no_operand) result.in.push_back(of.operands[i]);
    }
    for (std::size_t i = 0; i < of.expr.stores.size(); ++i) {
      if (i != no_output) result.out.push_back(instruction(other).first_result + static_cast<ValueId>(i));
    }
  };
  if (before) {
    const Elementwise other = *elementwise(before->other);
    add(before->other, other, none, before->number);
    hooks.before = program_of(with_first_store(other.expr, before->number));
  }
  if (behind) {
    const Elementwise other = *elementwise(behind->other);
    add(behind->other, other, behind->number, none);
    hooks.after = program_of(with_first_load(other.expr, behind->number));
  }
  return result;
}

/// Adds the instruction that a kernel becomes with what runs before and behind it.
void Hooking::write(Rebuilt& rebuilt, Number kernel) const {
  Unit merged = unit(kernel, hooked_[kernel]);
  Instruction made = instruction(kernel);
  made.op = &hooked_kernel_op();
  made.attrs = make_attrs(std::move(merged.attrs));
  std::vector<Aval> results;
  for (const ValueId id : merged.out) results.push_back(aval(id));
  for (ValueId& id : merged.in) id = rebuilt.of(id);
  const ValueId first = rebuilt.add(std::move(made), merged.in, results);
  for (std::uint32_t i = 0; i < merged.out.size(); ++i) rebuilt.replace(merged.out[i], first + i);
}

Program Hooking::run() {
  for (Number i = 0; i < program_.instructions().size(); ++i) {
    const Kernel* const kernel = kernel_with_hooks(i);
    if (kernel == nullptr) continue;
    if (kernel->hands_over != nullptr) find_behind(i);
    if (kernel->reads_by != nullptr) find_before(i);
  }
  // The largest saving first, and of equal ones the last, so that no operand waits for long.
  std::ranges::stable_sort(candidates_, [](const Candidate& a, const Candidate& b) {
    return a.saved != b.saved ? a.saved > b.saved : a.kernel > b.kernel;
  });
  for (const Candidate& each : candidates_) try_merge(each);
  Rebuilt rebuilt(program_);
  for (const std::vector<Number>& unit : scheduled(program_, unit_of_, same_as_)) {
    if (unit.size() == 1)
      rebuilt.copy(instruction(unit[0]));
    else
      write(rebuilt, unit_of_[unit[0]]);
  }
  return rebuilt.program();
}

}  // namespace

Program hooked(const Program& program, std::span<const Strides> inputs, const HookLimits& limits) {
  return Hooking(program, inputs, limits).run();
}

}  // namespace lodestone::engine
