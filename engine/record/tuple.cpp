// SPDX-License-Identifier: Apache-2.0
#include "engine/record/tuple.hpp"

#include "engine/core/error.hpp"
#include "engine/graph/evaluate.hpp"
#include "engine/record/record.hpp"

namespace lodestone::engine {

Tensor tuple(const Tensors& elements, std::source_location where) {
  static const OpInfo& op = op_named("tuple");
  if (elements.empty())
    throw core::InvalidArgument("tuple#no_elements",
                                "expected at least one element, but the list is empty {}", at_line(where));
  return record(op, elements, {}, where);
}

Tensor get(const Tensor& from, std::size_t i, std::source_location where) {
  static const OpInfo &op = op_named("get"), &made = op_named("tuple");
  const Node& node = from.node();
  if (node.op == &made && i < node.inputs.size()) return Tensor(node.inputs[i]);
  return record(op, {from}, make_attrs(ElementAttrs{static_cast<std::int64_t>(i)}), where);
}

Tensors elements_of(const Tensor& from, std::source_location where) {
  Tensors result;
  for (std::size_t i = 0; i < avals_of(from).size(); ++i) result.push_back(get(from, i, where));
  return result;
}

const std::vector<Aval>& avals_of(const Tensor& tuple) {
  return static_cast<const TupleValue&>(*tuple.node().object).avals;
}

std::vector<Aval> avals_of(std::span<const Tensor> tensors) {
  std::vector<Aval> result;
  for (const Tensor& each : tensors) result.push_back(each.aval());
  return result;
}

const Tensors& evaluated_elements(const Node& tuple) {
  return static_cast<const TupleValue&>(*tuple.object).elements;
}

Tensor evaluated_tuple(Tensors elements, Device device) {
  eval(elements);
  NodePtr node(new Node);
  node->aval = tuple_aval(device);
  auto* value = new TupleValue(device, avals_of(elements));
  node->object = OpaquePtr(value);
  value->elements = std::move(elements);
  return Tensor(std::move(node));
}

Tensors without_gaps(Tensors tensors) {
  eval(tensors);
  for (Tensor& each : tensors) {
    if (each.aval().kind == Kind::array) each = Tensor(contiguous(each.node_pointer()));
  }
  return tensors;
}

Aval tuple_aval(Device device) { return {{}, DType::f64, device, Kind::tuple}; }

}  // namespace lodestone::engine
