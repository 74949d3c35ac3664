// SPDX-License-Identifier: Apache-2.0
#include "engine/record/record.hpp"

#include "engine/core/error.hpp"
#include "engine/graph/evaluate.hpp"
#include "engine/record/effects.hpp"
#include "engine/record/rule_place.hpp"
#include "engine/record/tuple.hpp"

namespace lodestone::engine {
namespace {

NodePtr make_node(const OpInfo* op, std::span<const Tensor> inputs, AttrsPtr attrs, Aval aval,
                  std::source_location where) {
  thread_local std::uint64_t n_recorded = 0;
  NodePtr node(new Node);
  node->sequence = ++n_recorded;
  node->op = op;
  node->inputs = InputList(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    node->inputs[i] = inputs[i].node_pointer();
    node->is_abstract |= inputs[i].node().is_abstract;
    node->is_followed |= inputs[i].node().is_followed;
  }
  node->attrs = std::move(attrs);
  node->aval = aval;
  node->where = where;
  node->thread = thread_number();
  node->level = graph_level();
  return node;
}

/// An array whose elements can be counted.
void check_countable(const OpInfo& op, const Aval& aval, const std::source_location& where) {
  std::int64_t bytes = 16;  // of the widest dtype
  for (const Dim dim : aval.shape) {
    if (dim < 0)
      throw core::ShapeError(op.name + "#negative_extent", "expected extents of 0 or more, got {} {}",
                             aval.shape.text(), at_line(where));
    if (dim != 0 && __builtin_mul_overflow(bytes, dim, &bytes))
      throw core::ShapeError(op.name + "#too_many_elements",
                             "expected an array of fewer than 2^59 elements, got {} {}", aval.text(),
                             at_line(where));
  }
}

Tensor add_tuples(const Tensor& a, const Tensor& b) {
  Tensors sums = elements_of(a);
  const Tensors other = elements_of(b);
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = add_tangents(sums[i], other[i]);
  return tuple(sums);
}

}  // namespace

void check_inputs(const OpInfo& op, std::span<const Tensor> inputs, const std::source_location& where) {
  if (op.n_inputs >= 0 && std::ssize(inputs) != op.n_inputs)
    throw core::InvalidArgument(op.name + "#wrong_input_count", "expected {} inputs, got {} {}", op.n_inputs,
                                inputs.size(), at_line(where));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].is_valid())
      throw core::InvalidArgument(op.name + "#empty_input",
                                  "expected a tensor as input {}, got an empty one {}", i, at_line(where));
    if (!(inputs[i].device() == inputs[0].device())) {
      throw core::DeviceError(op.name + "#two_devices",
                              "expected all inputs on {}, got input {} on {}; copy one of them {}",
                              inputs[0].device().text(), i, inputs[i].device().text(), at_line(where));
    }
    if (inputs[i].aval().kind != Kind::array && !op.run)
      throw core::InvalidArgument(op.name + "#not_an_array", "expected an array as input {}, got a {} {}", i,
                                  inputs[i].aval().text(), at_line(where));
  }
  if (!inputs.empty() && !op.dtypes.contains(inputs[0].dtype()))
    throw core::InvalidArgument(
        op.name + "#wrong_dtype", "expected {}, got {}{} {}", op.dtypes.text(), inputs[0].aval().text(),
        halves.contains(inputs[0].dtype()) ? ", which is stored only; cast it first" : "", at_line(where));
}

Tensor record(const OpInfo& op, std::span<const Tensor> inputs, AttrsPtr attrs, std::source_location own) {
  const std::source_location where = RulePlace::of(own);
  check_inputs(op, inputs, where);
  const Aval aval = op.infer({op, inputs, attrs.get(), where});
  check_countable(op, aval, where);
  if (op.decompose && !op.has_kernel({op, inputs, attrs.get(), where})) {
    const RulePlace place(where);
    return op.decompose({op, inputs, Tensor(), attrs, where});
  }
  OpaquePtr elements;
  if (op.results)
    elements = OpaquePtr(new TupleValue(aval.device, op.results({op, inputs, attrs.get(), where})));
  Tensor result(make_node(&op, inputs, std::move(attrs), aval, where));
  result.node().object = std::move(elements);
  const bool is_effect = op.runs_when_recorded != nullptr && op.runs_when_recorded(result.node().attrs.get());
  if (!is_effect)
    note_recorded(result.node_pointer());
  else if (result.node().is_abstract)
    Effects::note(result);
  else
    result.eval();
  return result;
}

Tensor placeholder(const Aval& aval, std::source_location where) {
  NodePtr node = make_node(nullptr, {}, {}, aval, where);
  node->is_abstract = true;
  return Tensor(std::move(node));
}

Tensor RuleArgs::again(std::span<const Tensor> inputs) const {
  const RulePlace place(where);
  return record(op, inputs, attrs, where);
}

Tensor new_array(const Aval& aval) {
  NodePtr node(new Node);
  node->aval = aval;
  try {
    node->buffer = BufferPtr(new Buffer(aval.device, aval.bytes()));
  } catch (const core::DeviceError& error) {
    throw core::DeviceError(
        core::Worded{fmt::format("{}; wanted for {}", error.what(), aval.text()), error.place()});
  }
  node->look = Look::dense(aval.shape);
  return Tensor(std::move(node));
}

Tensor add_tangents(const Tensor& a, const Tensor& b) {
  if (is_zero_tangent(a)) return b.is_valid() ? b : a;
  if (is_zero_tangent(b)) return a;
  if (a.aval().kind == Kind::tuple) return add_tuples(a, b);
  static const OpInfo& op = op_named("add");
  return record(op, {a, b}, {}, std::source_location::current());
}

}  // namespace lodestone::engine
