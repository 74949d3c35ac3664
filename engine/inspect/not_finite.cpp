// SPDX-License-Identifier: Apache-2.0
#include "engine/inspect/not_finite.hpp"

#include "engine/dispatch/executor.hpp"
#include "engine/graph/op_info.hpp"
#include "engine/inspect/statistics.hpp"
#include "engine/inspect/watch.hpp"
#include "engine/record/tuple.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

/// Returns true for a tuple whose elements a kernel computed; those of others came out of other ops.
bool is_computed_tuple(const Node& node) {
  return node.aval.kind == Kind::tuple && node.op != nullptr && !node.op->run;
}

bool is_finite(const NodePtr& node) {
  if (is_computed_tuple(*node))
    return std::ranges::all_of(evaluated_elements(*node),
                               [](const Tensor& each) { return is_finite(each.node_pointer()); });
  if (node->aval.kind != Kind::array) return true;
  return all_finite(node->aval.dtype, {contiguous(node)->data(), node->aval.bytes()});
}

/// Returns true if the value of a node lies in this buffer, or an element of it.
bool holds(const Node& node, const BufferPtr& buffer) {
  if (!is_computed_tuple(node)) return node.buffer == buffer;
  return std::ranges::any_of(evaluated_elements(node),
                             [&](const Tensor& each) { return each.node().buffer == buffer; });
}

std::string place_of(const OpInfo& op, const std::source_location& where) {
  return fmt::format("{} {}", op.name, at_line(where));
}
std::string came_in(const Aval& input, const OpInfo& op, const std::source_location& where) {
  return fmt::format("an input {} of {}", input.text(), place_of(op, where));
}
std::string made(const Aval& result, const OpInfo& op, const std::source_location& where) {
  return fmt::format("{} of {} {}, from finite inputs", op.name, result.text(), at_line(where));
}

/// Looks for the first number that is not finite while a plan runs.
class FirstNotFinite final : public Watcher {
 public:
  FirstNotFinite(const Plan& plan, std::span<const Tensor> inputs) : plan_(plan) {
    for (const Value& each : plan.running().values()) {
      const bool is_there = each.from != Value::From::result && each.aval.kind == Kind::array;
      const auto& tensors = each.from == Value::From::input ? inputs : plan.running().constants();
      came_in_.push_back(is_there && !is_finite(tensors[each.of].node_pointer()));
    }
  }
  void begin(const Instruction& instruction) override {
    for (const ValueId id : plan_.running().operands(instruction)) {
      if (!found_ && came_in_[plan_.lowered().roots[id]])
        found_ = came_in(plan_.running().values()[id].aval, *instruction.op, instruction.where);
    }
  }
  void end(const Instruction& instruction, std::span<const View> results) override {
    for (const View& each : results) {
      const bool is_array = each.aval->kind == Kind::array && each.data != nullptr;
      if (!found_ && is_array && !all_finite(each.aval->dtype, {each.data, each.aval->bytes()}))
        found_ = made(*each.aval, *instruction.op, instruction.where);
    }
  }
  [[nodiscard]] const std::optional<std::string>& found() const { return found_; }

 private:
  const Plan& plan_;
  std::vector<bool> came_in_;  ///< by value: an input or a constant that is not finite
  std::optional<std::string> found_;
};

}  // namespace

bool all_finite(const Tensors& tensors) {
  eval(tensors);
  return std::ranges::all_of(tensors, [](const Tensor& each) { return is_finite(NodePtr(&each.node())); });
}

std::optional<std::string> first_not_finite(const std::function<void()>& f) {
  std::optional<std::string> found;
  const ExecutionObserver observer([&](const Node& node) {
    // A view shows what was there before.
    if (found || is_view(node) || is_finite(NodePtr(const_cast<Node*>(&node)))) return;
    // Inputs that this op has written over were computed, so they have been looked at.
    const auto is_from_outside = [&](const NodePtr& input) {
      return input->buffer && !holds(node, input->buffer) && !is_finite(input);
    };
    const auto input = std::find_if(node.inputs.begin(), node.inputs.end(), is_from_outside);
    found = input != node.inputs.end() ? came_in((*input)->aval, *node.op, node.where)
                                       : made(node.aval, *node.op, node.where);
  });
  f();
  return found;
}

std::optional<std::string> first_not_finite(const Function& f, const Tensors& arguments,
                                            std::source_location where) {
  const PlannedFunction function = planned_function(f, avals_of(arguments), Level::O0, where);
  const GivenInputs inputs(function, arguments);
  FirstNotFinite search(*function.plan, inputs.all());
  static_cast<void>(run_watched(function, inputs, search));
  return search.found();
}

}  // namespace lodestone::engine
