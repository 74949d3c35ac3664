// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/segment_code.hpp"

#include "engine/graph/op_info.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/graph/scratch.hpp"
#include "engine/record/tuple.hpp"

#include <algorithm>
#include <bit>

namespace lodestone::engine {
namespace {

using detail::mixed;

bool is_number(const Node& node) {
  static const OpInfo& number = op_named("constant");
  return node.op == &number;
}
bool is_element(const Node& node) {
  static const OpInfo& get = op_named("get");
  return node.op == &get;
}
bool is_tuple(const Node& node) { return node.aval.kind == Kind::tuple; }

/// Returns whether its errors name its line, which must be that of the call, therefore.
bool may_refuse_values(const OpInfo& op) { return op.checks_values || op.run; }

std::uint64_t hash_of(const Node& leaf) {
  std::uint64_t hash =
      mixed(static_cast<std::uint64_t>(leaf.aval.dtype), static_cast<std::uint64_t>(leaf.aval.kind));
  hash = mixed(hash, detail::attr_hash(leaf.aval.device));
  for (int axis = 0; axis < leaf.aval.shape.rank(); ++axis) {
    hash = mixed(hash, static_cast<std::uint64_t>(leaf.aval.shape[axis]));
    if (leaf.aval.kind == Kind::array && leaf.aval.shape[axis] > 1)
      hash = mixed(hash, static_cast<std::uint64_t>(leaf.look.strides[axis]));
  }
  return hash;
}

}  // namespace

// ---- Nodes -----------------------------------------------------------------------------------------------

void SegmentNodes::take(std::span<Node* const> nodes, bool all_leave) {
  nodes_.assign(nodes.begin(), nodes.end());
  std::ranges::sort(nodes_, {}, [](const Node* node) { return node->sequence; });
  number_operands();
  find_leaving(all_leave);
}

void SegmentNodes::number_operands() {
  leaves_.clear();
  operands_.clear();
  n_uses_.assign(nodes_.size(), 0);
  are_program_ = true;
  const std::uint64_t first = next_visit(nodes_.size());
  std::size_t n_operands = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i]->visit = first + i;
    n_operands += nodes_[i]->inputs.size();
  }
  table_.assign(std::bit_ceil(2 * n_operands + 1), 0);
  for (const Node* node : nodes_) {
    for (const NodePtr& input : node->inputs) {
      if (is_tuple(*input) && (!is_element(*node) || input->is_evaluated())) are_program_ = false;
      if (input->is_evaluated()) {  // threads may share it, so its visits are not looked at
        operands_.push_back(leaf(*input));
        continue;
      }
      const std::uint64_t number = input->visit - first;
      ++n_uses_[number];
      operands_.push_back(static_cast<Operand>(number));
    }
  }
}

SegmentNodes::Operand SegmentNodes::leaf(Node& node) {
  const std::size_t mask = table_.size() - 1;
  for (std::size_t at = mixed(0, std::bit_cast<std::uintptr_t>(&node)) & mask;; at = (at + 1) & mask) {
    Operand& found = table_[at];
    if (found != 0 && leaves_[static_cast<std::size_t>(-1 - found)] != &node) continue;
    if (found == 0) {
      leaves_.push_back(&node);
      found = -static_cast<Operand>(leaves_.size());
    }
    return found;
  }
}

void SegmentNodes::find_leaving(bool all_leave) {
  leaving_.clear();
  is_leaving_.resize(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    is_leaving_[i] = static_cast<std::uint8_t>(all_leave || nodes_[i]->n_owners() > n_uses_[i]);
    if (is_leaving_[i] != 0) leaving_.push_back(nodes_[i]);
  }
}

std::uint64_t SegmentNodes::hash() const {
  std::uint64_t hash = mixed(nodes_.size(), static_cast<std::uint64_t>(Scratch::threads_of_call()));
  for (const Node* leaf : leaves_) hash = mixed(hash, hash_of(*leaf));
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    hash = mixed(hash, std::bit_cast<std::uintptr_t>(nodes_[i]->op) + is_leaving_[i]);
    hash = mixed(hash, nodes_[i]->attrs ? nodes_[i]->attrs->hash() : 0);
  }
  for (const Operand each : operands_) hash = mixed(hash, static_cast<std::uint64_t>(each));
  return hash;
}

// ---- Code ------------------------------------------------------------------------------------------------

SegmentCode::SegmentCode(const SegmentNodes& nodes)
    : operands_(nodes.operands()), hash_(nodes.hash()), n_threads_(Scratch::threads_of_call()) {
  for (const Node* each : nodes.leaves()) {
    const bool is_array = each->aval.kind == Kind::array;
    leaves_.push_back(
        {each->aval, is_array ? each->look.strides : Strides(), is_number(*each) ? each->attrs : AttrsPtr()});
  }
  for (std::size_t i = 0; i < nodes.nodes().size(); ++i) {
    const Node& each = *nodes.nodes()[i];
    ops_.push_back({each.op, each.attrs, each.inputs.size(), nodes.is_leaving(i), each.where});
  }
}

bool SegmentCode::Leaf::fits(const Node& node) const {
  return aval == node.aval &&
         (aval.kind != Kind::array || same_steps(aval.shape, node.look.strides, strides));
}

bool SegmentCode::Op::fits(const Node& node) const {
  const bool has_attrs = attrs && node.attrs ? attrs->equals(*node.attrs)
                                             : static_cast<bool>(attrs) == static_cast<bool>(node.attrs);
  return op == node.op && n_operands == node.inputs.size() && has_attrs &&
         (!may_refuse_values(*op) || (where.line() == node.where.line() &&
                                      std::string_view(where.file_name()) == node.where.file_name()));
}

SegmentCode::Match SegmentCode::match(const SegmentNodes& nodes) const {
  if (n_threads_ != Scratch::threads_of_call() || ops_.size() != nodes.nodes().size() ||
      leaves_.size() != nodes.leaves().size() || operands_ != nodes.operands())
    return Match::none;
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    if (!ops_[i].fits(*nodes.nodes()[i]) || ops_[i].is_leaving != nodes.is_leaving(i)) return Match::none;
  }
  Match match = Match::same;
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    const Node& node = *nodes.leaves()[i];
    if (!leaves_[i].fits(node)) return Match::none;
    if (leaves_[i].number && !(is_number(node) && leaves_[i].number->equals(*node.attrs)))
      match = Match::but_for_numbers;
  }
  return match;
}

void SegmentCode::free_numbers(const SegmentNodes& nodes) {
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    const Node& node = *nodes.leaves()[i];
    if (leaves_[i].number && !(is_number(node) && leaves_[i].number->equals(*node.attrs)))
      leaves_[i].number = AttrsPtr();
  }
}

Tensors SegmentCode::inputs(const SegmentNodes& nodes) const {
  Tensors result;
  result.reserve(leaves_.size());
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    if (!leaves_[i].number) result.emplace_back(NodePtr(nodes.leaves()[i]));
  }
  return result;
}

std::vector<Strides> SegmentCode::strides() const {
  std::vector<Strides> result;
  for (const Leaf& each : leaves_) {
    if (!each.number) result.push_back(each.strides);
  }
  return result;
}

Program SegmentCode::program(const SegmentNodes& nodes) const {
  static const OpInfo& get = op_named("get");
  Trace::Parts parts;
  parts.inputs = inputs(nodes);
  std::vector<Trace::Slot> of_leaf, of_node;
  for (Trace::Slot next = 0; const Leaf& each : leaves_) of_leaf.push_back(each.number ? -1 : next++);
  const auto add = [&](Trace::Step step, std::span<const Trace::Slot> slots) {
    step.first_slot = parts.input_slots.size();
    parts.input_slots.insert(parts.input_slots.end(), slots.begin(), slots.end());
    parts.steps.push_back(std::move(step));
    return static_cast<Trace::Slot>(parts.inputs.size() + parts.steps.size()) - 1;
  };
  auto operand = operands_.begin();
  for (Node* node : nodes.nodes()) {
    std::vector<Trace::Slot> slots;
    for (std::size_t i = 0; i < node->inputs.size(); ++i, ++operand)
      slots.push_back(*operand < 0 ? of_leaf[static_cast<std::size_t>(-1 - *operand)]
                                   : of_node[static_cast<std::size_t>(*operand)]);
    // What nothing is computed from is computed now.
    of_node.push_back(slots.empty() ? -1
                                    : add({node->op, Tensors(node->inputs.begin(), node->inputs.end()),
                                           Tensor(NodePtr(node)), node->attrs, node->where, true, 0},
                                          slots));
  }
  for (std::size_t i = 0; i < nodes.nodes().size(); ++i) {
    if (!nodes.is_leaving(i)) continue;
    const Tensor value{NodePtr(nodes.nodes()[i])};
    if (!is_tuple(value.node())) {
      parts.outputs.push_back(value);
      parts.output_slots.push_back(of_node[i]);
      continue;
    }
    for (std::size_t k = 0; k < avals_of(value).size(); ++k) {
      parts.outputs.push_back(placeholder(avals_of(value)[k], value.node().where));
      parts.output_slots.push_back(add({&get,
                                        {value},
                                        parts.outputs.back(),
                                        make_attrs(ElementAttrs{static_cast<std::int64_t>(k)}),
                                        value.node().where,
                                        true,
                                        0},
                                       std::array{of_node[i]}));
    }
  }
  return Program::of(Trace(std::move(parts)));
}

}  // namespace lodestone::engine
