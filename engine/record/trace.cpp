// SPDX-License-Identifier: Apache-2.0
#include "engine/record/trace.hpp"

#include "engine/core/error.hpp"
#include "engine/graph/evaluate.hpp"
#include "engine/record/effects.hpp"
#include "engine/record/feed.hpp"
#include "engine/record/rule_place.hpp"
#include "engine/record/state_scope.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_map>
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

/// Numbers of nodes, which their last visit tells, until another traversal comes by: faster than a map.
class Marks {
 public:
  explicit Marks(std::size_t n) : n_(n), first_(next_visit(n)) {}
  void give(Node& node, std::size_t number) const { node.visit = first_ + number; }
  /// Returns the number of a node, -1 if it has none.
  [[nodiscard]] int of(const Node& node) const {
    const std::uint64_t number = node.visit - first_;
    return number < n_ ? static_cast<int>(number) : -1;
  }

 private:
  std::uint64_t n_, first_;
};

Tensors placeholders_of(std::span<const Aval> avals, const std::source_location& where) {
  Tensors result;
  for (const Aval& aval : avals) result.push_back(placeholder(aval, where));
  return result;
}

/// Returns the tensors in these slots; where there is no slot, the given ones.
Tensors replaced(const Tensors& tensors, std::span<const int> slots, const Tensors& of_slot) {
  Tensors result;
  result.reserve(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i)
    result.push_back(slots[i] < 0 ? tensors[i] : of_slot[static_cast<std::size_t>(slots[i])]);
  return result;
}

}  // namespace

bool is_differentiating() { return differentiating; }
Differentiating::Differentiating(bool value) : before_(std::exchange(differentiating, value)) {}
Differentiating::~Differentiating() { differentiating = before_; }

bool may_be_followed(const Tensor& tensor) {
  const Node& node = tensor.node();
  return (node.is_abstract || node.is_followed) && !(node.is_evaluated() && node.inputs.size() == 0);
}

Trace Trace::of(const Function& f, const Tensors& inputs, std::source_location where) {
  static const OpInfo& identity = op_named("identity");
  Tensors marked;
  for (const Tensor& input : inputs) {
    marked.push_back(record(identity, {input}, {}, where));
    marked.back().node().is_followed = true;
  }
  const Differentiating scope(true);
  return Trace(f, std::move(marked), nullptr, nullptr, nullptr, where);
}

Trace Trace::without_values(const Function& f, std::span<const Aval> inputs, std::source_location where) {
  const Effects effects;
  return Trace(f, placeholders_of(inputs, where), &effects, nullptr, nullptr, where);
}

Trace::WithCells Trace::with_cells(const Function& f, std::span<const Aval> inputs,
                                   std::source_location where, const FeedScope* feeds) {
  const Effects effects;
  const StateScope cells;
  Trace trace(f, placeholders_of(inputs, where), &effects, &cells, feeds, where);
  return {std::move(trace), cells.read(), cells.assigned()};
}

Trace::Trace(const Function& f, Tensors inputs, const Effects* effects, const StateScope* cells,
             const FeedScope* feeds, std::source_location where)
    : inputs_(std::move(inputs)) {
  const KeepGraph keep;  // f may look at values on the way
  {
    const RulePlace own = RulePlace::none();
    outputs_ = f(inputs_);
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (!outputs_[i].is_valid())
      throw core::InvalidArgument("engine::transform#empty_output",
                                  "expected tensors from the function, got an empty one as output {} {}", i,
                                  at_line(where));
  }
  if (cells != nullptr) {
    const Tensors values = values_of(cells->assigned());
    inputs_.insert(inputs_.end(), cells->placeholders().begin(), cells->placeholders().end());
    outputs_.insert(outputs_.end(), values.begin(), values.end());
  }
  if (feeds != nullptr)
    inputs_.insert(inputs_.end(), feeds->placeholders().begin(), feeds->placeholders().end());
  collect(effects);
}

Trace::Trace(Parts parts)
    : inputs_(std::move(parts.inputs)),
      outputs_(std::move(parts.outputs)),
      input_slots_(std::move(parts.input_slots)),
      output_slots_(std::move(parts.output_slots)) {
  for (Step& each : parts.steps) add(std::move(each));
}

void Trace::add(Step step) {
  runs_when_recorded_ = runs_when_recorded_ || (step.op->runs_when_recorded != nullptr &&
                                                step.op->runs_when_recorded(step.attrs.get()));
  steps_.push_back(std::move(step));
}

void Trace::collect(const Effects* effects) {
  const std::uint64_t needed = next_visit(), beside = next_visit();
  for (const Tensor& input : inputs_) input.node().visit = needed;
  std::vector<Node*> nodes;
  add_ancestors(nodes, outputs_, needed, needed);
  if (effects != nullptr) add_ancestors(nodes, effects->noted(), beside, needed);
  std::sort(nodes.begin(), nodes.end(),
            [](const Node* a, const Node* b) { return a->sequence < b->sequence; });

  const Marks slots(inputs_.size() + nodes.size());
  for (std::size_t i = 0; i < inputs_.size(); ++i) slots.give(inputs_[i].node(), i);
  for (Node* node : nodes) {
    const bool is_needed = node->visit == needed;
    const auto depends = [&](const NodePtr& input) { return slots.of(*input) >= 0; };
    if (std::none_of(node->inputs.begin(), node->inputs.end(), depends)) continue;
    const std::size_t first_slot = input_slots_.size();
    for (const NodePtr& input : node->inputs) input_slots_.push_back(slots.of(*input));
    slots.give(*node, static_cast<std::size_t>(next_slot()));
    add({node->op, Tensors(node->inputs.begin(), node->inputs.end()), Tensor(NodePtr(node)), node->attrs,
         node->where, is_needed, first_slot});
  }
  for (const Tensor& output : outputs_) output_slots_.push_back(slots.of(output.node()));
  if (effects == nullptr) return;
  for (const Tensor& each : effects->noted()) {
    if (slots.of(each.node()) < 0) effects->pass_on(each);
  }
}

std::vector<std::pair<Tensor, AttrsPtr>> Trace::outputs_of(const OpInfo& op) const {
  std::vector<std::pair<Tensor, AttrsPtr>> result;
  for (const Step& step : steps_) {
    if (step.op == &op && step.is_needed) result.emplace_back(step.out, step.attrs);
  }
  return result;
}

void Trace::also_give(const Tensors& more) {
  for (const Tensor& each : more) {
    const auto step = std::find_if(steps_.begin(), steps_.end(), [&](const Step& made) {
      return made.out.node_pointer() == each.node_pointer();
    });
    outputs_.push_back(each);
    output_slots_.push_back(static_cast<Slot>(inputs_.size()) + static_cast<Slot>(step - steps_.begin()));
  }
}

template <class F>
void Trace::for_each_use(F f) {
  for (const Step& step : steps_) {
    for (std::size_t i = 0; i < step.in.size(); ++i) f(step.in[i], input_slots_[step.first_slot + i]);
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) f(outputs_[i], output_slots_[i]);
}

Tensors Trace::lift_captured() {
  Tensors captured;
  std::unordered_map<const Node*, Slot> lifted;
  for_each_use([&](const Tensor& tensor, Slot slot) {
    const auto next = static_cast<Slot>(inputs_.size() + captured.size());
    if (slot < 0 && may_be_followed(tensor) && lifted.emplace(&tensor.node(), next).second)
      captured.push_back(tensor);
  });
  const auto n_before = static_cast<Slot>(inputs_.size()), n_more = static_cast<Slot>(captured.size());
  for_each_use([&](const Tensor& tensor, Slot& slot) {
    if (slot >= n_before) slot += n_more;
    if (const auto found = lifted.find(&tensor.node()); found != lifted.end()) slot = found->second;
  });
  inputs_.insert(inputs_.end(), captured.begin(), captured.end());
  return captured;
}

Tensors Trace::values(const Tensors& inputs) const {
  Tensors of_slot = inputs;
  for (const Step& step : steps_)
    of_slot.push_back(step.args().again(replaced(step.in, slots_of(step), of_slot)));
  return replaced(outputs_, output_slots_, of_slot);
}

Trace Trace::again(const Tensors& inputs, const std::vector<bool>& active, const Tensors& saved) const {
  Trace result;
  result.inputs_ = inputs;
  Tensors of_slot = inputs;
  std::vector<Slot> new_slots;  // of the slots here
  for (std::size_t i = 0; i < inputs.size(); ++i) new_slots.push_back(active[i] ? static_cast<Slot>(i) : -1);
  const auto new_slot = [&](Slot slot) { return slot < 0 ? -1 : new_slots[static_cast<std::size_t>(slot)]; };
  std::unordered_map<const Node*, Tensor> instead;
  for (std::size_t i = 0; i < saved.size(); ++i)
    instead.emplace(&outputs_[outputs_.size() - saved.size() + i].node(), saved[i]);
  const Effects left_out;  // these ops have run in the forward pass
  for (const Step& step : steps_) {
    Tensor& out = of_slot.emplace_back();
    new_slots.push_back(-1);
    if (!step.is_needed) continue;
    const std::span<const Slot> slots = slots_of(step);
    Tensors in = replaced(step.in, slots, of_slot);
    const auto found = instead.find(&step.out.node());
    out = found == instead.end() ? step.args().again(in) : found->second;
    if (std::none_of(slots.begin(), slots.end(), [&](Slot slot) { return new_slot(slot) >= 0; })) continue;
    new_slots.back() = result.next_slot();
    const std::size_t first_slot = result.input_slots_.size();
    std::transform(slots.begin(), slots.end(), std::back_inserter(result.input_slots_), new_slot);
    result.add({step.op, std::move(in), out, step.attrs, step.where, true, first_slot});
  }
  result.outputs_ = replaced(outputs_, output_slots_, of_slot);
  std::transform(output_slots_.begin(), output_slots_.end(), std::back_inserter(result.output_slots_),
                 new_slot);
  return result;
}

Tensors Trace::push_forward(const Tensors& tangents) const {
  Tensors of_slot = tangents;
  for (const Step& step : steps_) {
    const std::span<const Slot> slots = slots_of(step);
    Tensors in(slots.size());
    bool any = false;
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (slots[i] < 0 || is_zero_tangent(of_slot[static_cast<std::size_t>(slots[i])])) continue;
      in[i] = of_slot[static_cast<std::size_t>(slots[i])];
      any = true;
    }
    const RulePlace place(step.where);
    const bool has_tangent = any && step.is_needed && step.op->derivative.exists();
    of_slot.push_back(has_tangent ? step.op->derivative.jvp(step.args(), in) : Tensor());
  }
  return replaced(Tensors(outputs_.size()), output_slots_, of_slot);
}

Tensors Trace::pull_back(const Tensors& cotangents) const {
  Tensors of_slot(inputs_.size() + steps_.size());
  const auto give = [&](Slot slot, const Tensor& cotangent) {
    if (slot < 0 || is_zero_tangent(cotangent)) return;
    Tensor& sum = of_slot[static_cast<std::size_t>(slot)];
    sum = add_tangents(sum, cotangent);
  };
  for (std::size_t i = 0; i < outputs_.size(); ++i) give(output_slots_[i], cotangents[i]);
  for (std::size_t s = steps_.size(); s-- > 0;) {
    const Step& step = steps_[s];
    const Derivative& derivative = step.op->derivative;
    const Tensor cotangent = std::exchange(of_slot[inputs_.size() + s], {});
    if (!cotangent.is_valid() || !derivative.exists()) continue;
    const std::span<const Slot> slots = slots_of(step);
    const RulePlace place(step.where);
    if (derivative.pull_back) {
      std::vector<bool> wanted;
      for (const Slot slot : slots) wanted.push_back(slot >= 0);
      const Tensors all = derivative.pull_back(step.args(), cotangent, wanted);
      for (std::size_t i = 0; i < slots.size(); ++i) give(slots[i], all[i]);
    } else {
      for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i] >= 0) give(slots[i], derivative.vjp(step.args(), cotangent, i));
      }
    }
  }
  of_slot.resize(inputs_.size());
  return of_slot;
}

Trace::Batched Trace::batch(const Tensors& inputs, const std::vector<bool>& batched, BatchRule rule) const {
  Tensors of_slot = inputs;
  std::vector<bool> has_batch = batched;
  const auto carries_batch = [&](Slot slot) {
    return slot >= 0 && has_batch[static_cast<std::size_t>(slot)];
  };
  for (const Step& step : steps_) {
    const std::span<const Slot> slots = slots_of(step);
    const Tensors in = replaced(step.in, slots, of_slot);
    std::vector<bool> carries;
    std::transform(slots.begin(), slots.end(), std::back_inserter(carries), carries_batch);
    const bool any = std::find(carries.begin(), carries.end(), true) != carries.end();
    const RuleArgs args{*step.op, in, step.out, step.attrs, step.where};
    const RulePlace place(step.where);
    of_slot.push_back(any ? rule(args, carries) : args.again(in));
    has_batch.push_back(any);
  }
  Batched result{replaced(outputs_, output_slots_, of_slot), {}};
  std::transform(output_slots_.begin(), output_slots_.end(), std::back_inserter(result.has_batch),
                 carries_batch);
  return result;
}

}  // namespace lodestone::engine
