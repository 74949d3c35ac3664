// SPDX-License-Identifier: Apache-2.0
#include "engine/record/trace.hpp"

#include "engine/core/error.hpp"
#include "engine/graph/evaluate.hpp"
#include "engine/record/effects.hpp"

#include <algorithm>
#include <utility>

namespace lodestone::engine {

namespace {

thread_local bool differentiating = false;

/// Adds the recorded ops that these tensors need to the list and marks them with this visit; those with the
/// mark of either visit are left out.
void add_ancestors(std::vector<Node*>& nodes, const Tensors& of, std::uint64_t visit, std::uint64_t other) {
  const auto enter = [&](Node& node) {
    // Leaves are not marked: other threads may hold them, too.
    if (node.inputs.size() == 0 || node.visit == visit || node.visit == other) return;
    node.visit = visit;
    nodes.push_back(&node);
  };
  std::size_t next = nodes.size();
  for (const Tensor& each : of) enter(each.node());
  for (; next < nodes.size(); ++next) {
    for (const NodePtr& input : nodes[next]->inputs) enter(*input);
  }
}

}  // namespace

bool is_differentiating() { return differentiating; }
Differentiating::Differentiating(bool value) : before_(std::exchange(differentiating, value)) {}
Differentiating::~Differentiating() { differentiating = before_; }

Trace Trace::of(const Function& f, const Tensors& inputs, std::source_location where) {
  static const OpInfo& identity = op_named("identity");
  Tensors marked;
  for (const Tensor& input : inputs) {
    marked.push_back(record(identity, {input}, {}, where));
    marked.back().node().is_followed = true;
  }
  const Differentiating scope(true);
  return Trace(f, std::move(marked), nullptr, where);
}

Trace Trace::without_values(const Function& f, std::span<const Aval> inputs, std::source_location where) {
  Tensors placeholders;
  for (const Aval& aval : inputs) placeholders.push_back(placeholder(aval, where));
  const Effects effects;
  Trace result(f, std::move(placeholders), &effects, where);
  for (const Tensor& each : effects.noted()) {
    if (result.slot_of(each) < 0) effects.pass_on(each);
  }
  return result;
}

Trace::Trace(const Function& f, Tensors inputs, const Effects* effects, std::source_location where)
    : inputs_(std::move(inputs)) {
  const KeepGraph keep;  // f may look at values on the way
  outputs_ = f(inputs_);
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (!outputs_[i].is_valid())
      throw core::InvalidArgument("engine::transform#empty_output",
                                  "expected tensors from the function, got an empty one as output {} {}", i,
                                  at_line(where));
  }
  collect(effects != nullptr ? effects->noted() : Tensors());
}

int Trace::slot_of(const Tensor& tensor) const {
  const auto found = slots_.find(&tensor.node());
  return found == slots_.end() ? -1 : found->second;
}

const Tensor& Trace::replaced(const Tensor& tensor, const Tensors& of_slot) const {
  const int slot = slot_of(tensor);
  return slot < 0 ? tensor : of_slot[static_cast<std::size_t>(slot)];
}

Tensors Trace::replaced(const Tensors& tensors, const Tensors& of_slot) const {
  Tensors result;
  result.reserve(tensors.size());
  for (const Tensor& each : tensors) result.push_back(replaced(each, of_slot));
  return result;
}

void Trace::add(Step step) {
  runs_when_recorded_ = runs_when_recorded_ || (step.op->runs_when_recorded != nullptr &&
                                                step.op->runs_when_recorded(step.attrs.get()));
  slots_.emplace(&step.out.node(), static_cast<int>(inputs_.size() + steps_.size()));
  steps_.push_back(std::move(step));
}

void Trace::collect(const Tensors& effects) {
  const std::uint64_t needed = next_visit(), beside = next_visit();
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    slots_.emplace(&inputs_[i].node(), static_cast<int>(i));
    inputs_[i].node().visit = needed;
  }
  std::vector<Node*> nodes;
  add_ancestors(nodes, outputs_, needed, needed);
  add_ancestors(nodes, effects, beside, needed);
  std::sort(nodes.begin(), nodes.end(),
            [](const Node* a, const Node* b) { return a->sequence < b->sequence; });
  for (Node* node : nodes) {
    const bool depends = std::any_of(node->inputs.begin(), node->inputs.end(),
                                     [&](const NodePtr& input) { return slots_.contains(input.get()); });
    if (!depends) continue;
    add({node->op, Tensors(node->inputs.begin(), node->inputs.end()), Tensor(NodePtr(node)), node->attrs,
         node->where, node->visit == needed});
  }
}

std::vector<std::pair<Tensor, AttrsPtr>> Trace::outputs_of(const OpInfo& op) const {
  std::vector<std::pair<Tensor, AttrsPtr>> result;
  for (const Step& step : steps_) {
    if (step.op == &op && step.is_needed) result.emplace_back(step.out, step.attrs);
  }
  return result;
}

Tensors Trace::lift_captured() {
  Tensors captured;
  std::unordered_map<const Node*, int> seen;
  const auto look_at = [&](const Tensor& tensor) {
    const Node& node = tensor.node();
    const bool is_constant =
        (!node.is_abstract && !node.is_followed) || (node.is_evaluated() && node.inputs.size() == 0);
    if (!is_constant && slot_of(tensor) < 0 && seen.emplace(&node, 0).second) captured.push_back(tensor);
  };
  for (const Step& step : steps_) std::for_each(step.in.begin(), step.in.end(), look_at);
  std::for_each(outputs_.begin(), outputs_.end(), look_at);
  inputs_.insert(inputs_.end(), captured.begin(), captured.end());
  slots_.clear();
  for (std::size_t i = 0; i < inputs_.size(); ++i) slots_.emplace(&inputs_[i].node(), static_cast<int>(i));
  for (std::size_t s = 0; s < steps_.size(); ++s)
    slots_.emplace(&steps_[s].out.node(), static_cast<int>(inputs_.size() + s));
  return captured;
}

Tensors Trace::values(const Tensors& inputs) const {
  Tensors of_slot = inputs;
  for (const Step& step : steps_) of_slot.push_back(step.args().again(replaced(step.in, of_slot)));
  return replaced(outputs_, of_slot);
}

Trace Trace::again(const Tensors& inputs, const std::vector<bool>& active, const Tensors& saved) const {
  Trace result;
  result.inputs_ = inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (active[i]) result.slots_.emplace(&inputs[i].node(), static_cast<int>(i));
  }
  std::unordered_map<const Node*, Tensor> instead;
  for (std::size_t i = 0; i < saved.size(); ++i)
    instead.emplace(&outputs_[outputs_.size() - saved.size() + i].node(), saved[i]);
  const Effects left_out;  // these ops have run in the forward pass
  Tensors of_slot = inputs;
  for (const Step& step : steps_) {
    Tensor& out = of_slot.emplace_back();
    if (!step.is_needed) continue;
    Tensors in = replaced(step.in, of_slot);
    const auto found = instead.find(&step.out.node());
    out = found == instead.end() ? step.args().again(in) : found->second;
    const bool is_active =
        std::any_of(in.begin(), in.end(), [&](const Tensor& each) { return result.slot_of(each) >= 0; });
    if (is_active) result.add({step.op, std::move(in), out, step.attrs, step.where, true});
  }
  result.outputs_ = replaced(outputs_, of_slot);
  return result;
}

Tensors Trace::push_forward(const Tensors& tangents) const {
  Tensors of_slot(inputs_.size() + steps_.size());
  std::copy(tangents.begin(), tangents.end(), of_slot.begin());
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    const Step& step = steps_[s];
    Tensors in(step.in.size());
    bool any = false;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const int slot = slot_of(step.in[i]);
      if (slot < 0 || is_zero_tangent(of_slot[static_cast<std::size_t>(slot)])) continue;
      in[i] = of_slot[static_cast<std::size_t>(slot)];
      any = true;
    }
    if (any && step.is_needed && step.op->derivative.exists())
      of_slot[inputs_.size() + s] = step.op->derivative.jvp(step.args(), in);
  }
  Tensors result;
  for (const Tensor& output : outputs_) {
    const int slot = slot_of(output);
    result.push_back(slot < 0 ? Tensor() : of_slot[static_cast<std::size_t>(slot)]);
  }
  return result;
}

Tensors Trace::pull_back(const Tensors& cotangents) const {
  Tensors of_slot(inputs_.size() + steps_.size());
  const auto give = [&](const Tensor& to, const Tensor& cotangent) {
    const int slot = slot_of(to);
    if (slot < 0 || is_zero_tangent(cotangent)) return;
    of_slot[static_cast<std::size_t>(slot)] =
        add_tangents(of_slot[static_cast<std::size_t>(slot)], cotangent);
  };
  for (std::size_t i = 0; i < outputs_.size(); ++i) give(outputs_[i], cotangents[i]);
  for (std::size_t s = steps_.size(); s-- > 0;) {
    const Step& step = steps_[s];
    Tensor& cotangent = of_slot[inputs_.size() + s];
    if (!cotangent.is_valid() || !step.op->derivative.exists()) continue;
    if (step.op->derivative.pull_back) {
      std::vector<bool> wanted;
      for (const Tensor& in : step.in) wanted.push_back(slot_of(in) >= 0);
      const Tensors all = step.op->derivative.pull_back(step.args(), cotangent, wanted);
      for (std::size_t i = 0; i < step.in.size(); ++i) give(step.in[i], all[i]);
    } else {
      for (std::size_t i = 0; i < step.in.size(); ++i) {
        if (slot_of(step.in[i]) >= 0) give(step.in[i], step.op->derivative.vjp(step.args(), cotangent, i));
      }
    }
    cotangent = Tensor();
  }
  of_slot.resize(inputs_.size());
  return of_slot;
}

Trace::Batched Trace::batch(const Tensors& inputs, const std::vector<bool>& batched) const {
  Tensors of_slot = inputs;
  std::vector<bool> has_batch = batched;
  for (const Step& step : steps_) {
    Tensors in = step.in;
    std::vector<bool> carries(in.size(), false);
    bool any = false;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const int slot = slot_of(in[i]);
      if (slot < 0) continue;
      in[i] = of_slot[static_cast<std::size_t>(slot)];
      carries[i] = has_batch[static_cast<std::size_t>(slot)];
      any = any || carries[i];
    }
    if (any && !step.op->batch)
      throw core::InvalidArgument(step.op->name + "#no_batching_rule",
                                  "has no batching rule, so that vmap cannot go through it {}",
                                  at_line(step.where));
    const RuleArgs args{*step.op, in, step.out, step.attrs, step.where};
    of_slot.push_back(any ? step.op->batch(args, carries) : args.again(in));
    has_batch.push_back(any);
  }
  Batched result;
  for (const Tensor& output : outputs_) {
    const int slot = slot_of(output);
    result.outputs.push_back(slot < 0 ? output : of_slot[static_cast<std::size_t>(slot)]);
    result.has_batch.push_back(slot >= 0 && has_batch[static_cast<std::size_t>(slot)]);
  }
  return result;
}

}  // namespace lodestone::engine
