// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/control_plan.hpp"

#include "engine/compile/donation.hpp"
#include "engine/compile/passes.hpp"
#include "engine/core/error.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/transform/attributes.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

/// Content of the attributes of an op about its functions.
struct Recorded {
  ControlPlan::Way way;
  std::vector<const Subgraph*> bodies;
  std::size_t n_before = 0;          ///< operands that the functions do not get
  std::size_t n_carry = 0, n_x = 0;  // of a loop
  Direction direction = Direction::forward;
};

std::optional<Recorded> recorded(const OpInfo& op, const Attrs* attrs) {
  static const OpInfo &call = op_named("call"), &custom = op_named("custom"), &cond = op_named("cond"),
                      &scan = op_named("scan");
  using Way = ControlPlan::Way;
  if (&op == &call) return Recorded{Way::call, {&attrs_as<CallAttrs>(*attrs).body}};
  if (&op == &custom) return Recorded{Way::call, {&attrs_as<CustomAttrs>(*attrs).body}};
  if (&op == &cond) {
    const auto& [yes, no] = attrs_as<CondAttrs>(*attrs);
    return Recorded{Way::branch, {&yes, &no}, 1};
  }
  if (&op != &scan) return std::nullopt;
  const auto& loop = attrs_as<LoopAttrs>(*attrs);
  return Recorded{Way::loop, {&loop.body}, 0, loop.n_carry, loop.n_x, loop.direction};
}

/// Returns whether kernels alone compute a function, on arrays of one processor.
bool is_of_kernels(const Trace& trace) {
  static const OpInfo &join = op_named("tuple"), &part = op_named("get");
  const auto is_array = [](const Tensor& each) {
    return each.aval().kind == Kind::array && each.device().kind == Device::Kind::cpu;
  };
  const auto is_known = [&](const Trace::Step& step) {
    if (step.op == &join || step.op == &part) return true;
    if (!std::ranges::all_of(step.in, is_array)) return false;
    if (!step.op->run) return is_array(step.out);
    const auto inside = recorded(*step.op, step.attrs.get());
    const auto fits = [](const Subgraph* body) { return is_of_kernels(body->trace()); };
    return inside && std::ranges::all_of(inside->bodies, fits);
  };
  return std::ranges::all_of(trace.inputs(), is_array) && std::ranges::all_of(trace.outputs(), is_array) &&
         std::ranges::all_of(trace.steps(), is_known);
}

std::ptrdiff_t size_of(const Aval& aval) { return static_cast<std::ptrdiff_t>(core::size_of(aval.dtype)); }

/// Returns the strides of what a function gets: carries without gaps, slices of x, and the rest as it lies.
std::vector<Strides> strides_of(const Recorded& op, std::span<const Aval* const> avals,
                                std::span<const Look> looks) {
  std::vector<Strides> result;
  for (std::size_t i = op.n_before; i < looks.size(); ++i) {
    const bool is_carry = i < op.n_carry, is_x = !is_carry && i < op.n_carry + op.n_x;
    Strides strides = is_carry ? contiguous_strides(avals[i]->shape) : looks[i].strides;
    if (is_x) strides = strides.erased(0);
    result.push_back(strides);
  }
  return result;
}

ControlPlan::Loop loop_of(const Recorded& op, std::span<const Aval* const> avals,
                          std::span<const Look> looks) {
  ControlPlan::Loop loop;
  if (op.way != ControlPlan::Way::loop) return loop;
  loop.direction = op.direction;
  loop.n_steps = avals[op.n_carry]->shape[0];
  for (std::size_t i = 0; i < op.n_carry; ++i) loop.carries.push_back({avals[i]->bytes()});
  for (std::size_t i = op.n_carry; i < op.n_carry + op.n_x; ++i)
    loop.x_steps.push_back(looks[i].strides[0] * size_of(*avals[i]));
  const std::vector<Aval> outputs = op.bodies[0]->outputs();
  for (std::size_t i = op.n_carry; i < outputs.size(); ++i)
    loop.y_steps.push_back(static_cast<std::ptrdiff_t>(outputs[i].bytes()));
  return loop;
}

/// Returns whether errors of two programs name the same lines.
bool has_same_places(const Program& a, const Program& b) {
  const auto is_same = [](const Instruction& x, const Instruction& y) {
    return x.where.line() == y.where.line() &&
           std::string_view(x.where.file_name()) == std::string_view(y.where.file_name());
  };
  return std::ranges::equal(a.instructions(), b.instructions(), is_same);
}

/// Returns what may lie in one place, as far as a function tells: inputs and the outputs in their order, as
/// carries of loops do.
std::vector<Donor> in_turn(const Program& program) {
  std::vector<Donor> donors;
  for (std::uint32_t i = 0; i < std::min(program.n_inputs(), program.outputs().size()); ++i)
    donors.push_back({i, i});
  return donors;
}

}  // namespace

Body::Body(Program program, std::span<const Strides> inputs, Level level)
    : program_(std::move(program)),
      optimized_(after(program_, inputs, passes_of(level), in_turn(program_))),
      lowered_(engine::lowered(running(), inputs, level, Leaving::to_given_places)) {}

std::size_t Body::bytes() const { return lowered_.blocks.empty() ? 0 : lowered_.blocks[0].bytes; }

Bodies::Entry& Bodies::entry_of(const Trace& function, std::span<const Strides> inputs) {
  for (Entry& each : entries_) {
    if (std::ranges::find(each.functions, &function) != each.functions.end() &&
        std::ranges::equal(each.inputs, inputs))
      return each;
  }
  Program program = Program::of(function);
  const std::uint64_t hash = program.hash();
  for (Entry& each : entries_) {
    if (each.hash == hash && std::ranges::equal(each.inputs, inputs) && each.body->program().same(program) &&
        has_same_places(each.body->program(), program)) {
      each.functions.push_back(&function);
      return each;
    }
  }
  entries_.push_back({hash,
                      {inputs.begin(), inputs.end()},
                      std::make_shared<const Body>(std::move(program), inputs, level_),
                      nullptr,
                      {&function}});
  return entries_.back();
}

std::shared_ptr<const Body> Bodies::of(const Trace& function, std::span<const Strides> inputs) {
  return entry_of(function, inputs).body;
}

std::shared_ptr<const ControlPlan> Bodies::call_of(const Trace& function, std::span<const Strides> inputs) {
  Entry& entry = entry_of(function, inputs);
  if (!entry.call)
    entry.call = std::make_shared<const ControlPlan>(ControlPlan::Way::call, std::vector{entry.body},
                                                     ControlPlan::Loop());
  return entry.call;
}

std::shared_ptr<const ControlPlan> ControlPlan::of(const Program& program, const Instruction& each,
                                                   std::span<const Look> looks, Bodies& known) {
  if (!each.op->run) return nullptr;
  const auto op = recorded(*each.op, each.attrs.get());
  const auto is_known = [](const Subgraph* body) { return is_of_kernels(body->trace()); };
  if (!op || !std::ranges::all_of(op->bodies, is_known)) return nullptr;
  std::vector<const Aval*> avals;
  for (const ValueId id : program.operands(each)) avals.push_back(&program.values()[id].aval);
  const std::vector<Strides> strides = strides_of(*op, avals, looks);
  if (op->way == Way::call) return known.call_of(op->bodies[0]->trace(), strides);
  std::vector<BodyPtr> bodies;
  for (const Subgraph* body : op->bodies) bodies.push_back(known.of(body->trace(), strides));
  return std::make_shared<const ControlPlan>(op->way, std::move(bodies), loop_of(*op, avals, looks));
}

ControlPlan::ControlPlan(Way way, std::vector<BodyPtr> bodies, Loop loop)
    : way_(way), bodies_(std::move(bodies)), loop_(std::move(loop)) {
  for (const BodyPtr& body : bodies_) bytes_ = std::max(bytes_, Scratch::aligned(body->bytes()));
  for (std::uint32_t i = 0; i < loop_.carries.size(); ++i) {
    if (replaces(bodies_[0]->running(), bodies_[0]->lowered(), {i, i})) continue;
    loop_.carries[i].second = bytes_;
    bytes_ += Scratch::aligned(loop_.carries[i].bytes);
  }
  for (const BodyPtr& body : bodies_) verify(*body, loop_, bytes_);
}

void verify(const Body& body, const ControlPlan::Loop& loop, std::size_t bytes) {
  std::vector<Donation> in_place;
  std::size_t end = body.bytes();
  for (std::uint32_t i = 0; i < loop.carries.size(); ++i) {
    const ControlPlan::Carry& each = loop.carries[i];
    if (each.second == ControlPlan::Carry::none) {
      in_place.push_back({i, body.lowered().outputs[i].held});
      continue;
    }
    if (each.second < end || each.second + each.bytes > bytes)
      throw core::InvalidArgument("engine::ControlPlan#wrong_place",
                                  "expected the second place of carry {} between {} and {} bytes, got {}", i,
                                  end, bytes, each.second);
    end = each.second + each.bytes;
  }
  if (bytes < end)
    throw core::InvalidArgument("engine::ControlPlan#too_small", "expected at least {} bytes, got {}", end,
                                bytes);
  verify(body.lowered(), in_place);
}

bool ControlPlan::writes_over(std::size_t operand, std::size_t result) const {
  const std::size_t n_before = way_ == Way::branch ? 1 : 0;
  if (way_ == Way::loop || operand < n_before) return false;
  const auto input = static_cast<std::uint32_t>(operand - n_before),
             output = static_cast<std::uint32_t>(result);
  return std::ranges::all_of(bodies_, [&](const BodyPtr& body) {
    return body->running().outputs()[output] == input ||
           replaces(body->running(), body->lowered(), {input, output});
  });
}

const Body& ControlPlan::counted_body() const {
  const auto count = [](const BodyPtr& body) { return n_launches(body->lowered()); };
  return **std::ranges::max_element(bodies_, {}, count);
}

std::int64_t n_launches(const Lowered& lowered) {
  std::int64_t n = 0;
  for (const Launch& each : lowered.launches)
    n += each.control == nullptr
             ? 1
             : each.control->n_runs() * n_launches(each.control->counted_body().lowered());
  return n;
}

std::int64_t n_copies(const Lowered& lowered) {
  std::int64_t n = lowered.n_copies;
  for (const Launch& each : lowered.launches) {
    if (each.control != nullptr)
      n += each.control->n_runs() * n_copies(each.control->counted_body().lowered());
  }
  return n;
}

}  // namespace lodestone::engine
