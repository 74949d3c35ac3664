// SPDX-License-Identifier: Apache-2.0
// Programs of traces.
#include "engine/core/error.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/program/program.hpp"
#include "engine/record/tuple.hpp"

#include <unordered_map>
#include <utility>

namespace lodestone::engine {
namespace {

/// Returns how a tensor is computed of small arrays; nothing where it takes large ones, code, or many ops.
RecipePtr recipe_of(const Tensor& tensor, int& most_ops) {
  constexpr std::size_t most_bytes = 4096;
  const Node& node = tensor.node();
  if (node.buffer)
    return node.buffer->bytes() <= most_bytes
               ? std::make_shared<const Recipe>(Recipe{nullptr, {}, {}, tensor, node.where})
               : nullptr;
  const bool is_op = node.op != nullptr && !node.op->run && node.op->runs_when_recorded == nullptr &&
                     node.aval.kind == Kind::array;
  if (!is_op || --most_ops < 0) return nullptr;
  Recipe recipe{node.op, node.attrs, {}, {}, node.where};
  for (const NodePtr& each : node.inputs) {
    recipe.in.push_back(recipe_of(Tensor(each), most_ops));
    if (!recipe.in.back()) return nullptr;
  }
  return std::make_shared<const Recipe>(std::move(recipe));
}

/// Writes down the steps of a trace, one after the other.
class ProgramWriter {
 public:
  explicit ProgramWriter(const Trace& trace) : trace_(trace) {}
  [[nodiscard]] ProgramParts parts();

 private:
  /// The values of a slot: one, or those of a tuple.
  using Values = std::vector<ValueId>;
  ValueId add(Value value);
  [[nodiscard]] ValueId constant(const Tensor& tensor);
  /// Returns the value of an operand or of an output.
  [[nodiscard]] ValueId value_of(const Tensor& tensor, Trace::Slot slot, const std::source_location& where);
  [[nodiscard]] Values operands_of(const Trace::Step& step);
  [[nodiscard]] ValueId element(const Trace::Step& step) const;
  [[nodiscard]] Values results_of(const Trace::Step& step, const Values& operands);

  const Trace& trace_;
  ProgramParts parts_;
  std::vector<Values> of_slot_;
  std::unordered_map<const Node*, ValueId> constants_;
};

ValueId ProgramWriter::add(Value value) {
  value.origin = static_cast<ValueId>(parts_.values.size());
  parts_.values.push_back(value);
  return value.origin;
}

ValueId ProgramWriter::constant(const Tensor& tensor) {
  if (const auto found = constants_.find(&tensor.node()); found != constants_.end()) return found->second;
  const auto number = static_cast<std::uint32_t>(parts_.constants.size());
  int most_ops = 16;
  parts_.recipes.push_back(tensor.node().buffer ? nullptr : recipe_of(tensor, most_ops));
  parts_.constants.push_back(tensor.eval());
  const ValueId id = add({tensor.aval(), Value::From::constant, number});
  constants_.emplace(&tensor.node(), id);
  return id;
}

ValueId ProgramWriter::value_of(const Tensor& tensor, Trace::Slot slot, const std::source_location& where) {
  if (tensor.aval().kind == Kind::tuple)
    throw core::InvalidArgument("engine::Program#whole_tuple",
                                "expected arrays, got a tuple that is used as a whole; take its elements {}",
                                at_line(where));
  return slot < 0 ? constant(tensor) : of_slot_[static_cast<std::size_t>(slot)].front();
}

ProgramWriter::Values ProgramWriter::operands_of(const Trace::Step& step) {
  const std::span<const Trace::Slot> slots = trace_.slots_of(step);
  Values operands;
  for (std::size_t i = 0; i < step.in.size(); ++i)
    operands.push_back(value_of(step.in[i], slots[i], step.where));
  return operands;
}

/// Returns the value that a step takes from a tuple.
ValueId ProgramWriter::element(const Trace::Step& step) const {
  const auto index = static_cast<std::size_t>(attrs_as<ElementAttrs>(*step.attrs, step.where).index);
  return of_slot_[static_cast<std::size_t>(trace_.slots_of(step)[0])][index];
}

ProgramWriter::Values ProgramWriter::results_of(const Trace::Step& step, const Values& operands) {
  const auto number = static_cast<std::uint32_t>(parts_.instructions.size());
  const bool is_tuple = step.out.aval().kind == Kind::tuple;
  Values results;
  for (const Aval& aval : is_tuple ? avals_of(step.out) : std::vector{step.out.aval()})
    results.push_back(add({aval, Value::From::result, number, static_cast<std::uint32_t>(results.size())}));
  const bool is_effect =
      step.op->runs_when_recorded != nullptr && step.op->runs_when_recorded(step.attrs.get());
  const auto first_result = static_cast<ValueId>(parts_.values.size() - results.size());
  parts_.instructions.push_back({step.op, step.attrs, static_cast<std::uint32_t>(parts_.operands.size()),
                                 static_cast<std::uint32_t>(operands.size()), first_result,
                                 static_cast<std::uint32_t>(results.size()), is_effect, step.where});
  parts_.operands.insert(parts_.operands.end(), operands.begin(), operands.end());
  return results;
}

ProgramParts ProgramWriter::parts() {
  static const OpInfo &join = op_named("tuple"), &part = op_named("get");
  parts_.n_inputs = trace_.inputs().size();
  for (std::size_t i = 0; i < parts_.n_inputs; ++i)
    of_slot_.push_back({add({trace_.inputs()[i].aval(), Value::From::input, static_cast<std::uint32_t>(i)})});
  for (const Trace::Step& step : trace_.steps()) {
    if (step.op == &part) {
      of_slot_.push_back({element(step)});
      continue;
    }
    Values operands = operands_of(step);  // constants among them stand before the results
    of_slot_.push_back(step.op == &join ? std::move(operands) : results_of(step, operands));
  }
  for (std::size_t i = 0; i < trace_.outputs().size(); ++i)
    parts_.outputs.push_back(
        value_of(trace_.outputs()[i], trace_.output_slots()[i], trace_.outputs()[i].node().where));
  return std::move(parts_);
}

}  // namespace

Program Program::of(const Trace& trace) { return Program(ProgramWriter(trace).parts()); }

}  // namespace lodestone::engine
