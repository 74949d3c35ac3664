// SPDX-License-Identifier: Apache-2.0
#include "engine/record/tuple.hpp"

#include "engine/core/error.hpp"
#include "engine/ops/attributes.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/register.hpp"
#include "engine/ops/rules.hpp"
#include "engine/ops/sampler.hpp"

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;

struct ElementAttrs {
  std::int64_t index = 0;
  static auto fields() { return std::tuple{Field{"index", &ElementAttrs::index}}; }
};

/// A tangent that is not known to be zero.
Tensor if_not_zero(const Tensor& tangent) { return tangent.node().is_zero ? Tensor() : tangent; }

OpInfo row_of(std::string name, std::string formula, int n_inputs) {
  OpInfo row;
  row.name = std::move(name);
  row.formula = std::move(formula);
  row.n_inputs = n_inputs;
  row.dtypes = any_computed;
  return row;
}

void register_tuple(OpTable& table) {
  OpInfo row = row_of("tuple", "(x₀, x₁, …)", -1);
  row.infer = [](const InferArgs& args) { return tuple_aval(args.aval(0).device); };
  row.results = [](const InferArgs& args) { return avals_of(args.in); };
  row.run = [](R args) { return evaluated_tuple({args.in.begin(), args.in.end()}); };
  row.derivative.formula = "(dx₀, dx₁, …)";
  row.derivative.jvp = [](R args, std::span<const Tensor> tangents) {
    Tensors all;
    for (std::size_t i = 0; i < tangents.size(); ++i)
      all.push_back(tangent_or_zeros(tangents[i], args.in[i]));
    return tuple(all, args.where);
  };
  row.derivative.vjp = [](R args, const Tensor& cotangent, std::size_t which) {
    return if_not_zero(get(cotangent, which, args.where));
  };
  row.batch = [](R args, const std::vector<bool>& batched) {
    Tensors all;
    for (std::size_t i = 0; i < batched.size(); ++i)
      all.push_back(with_batch(args.in[i], batched[i], batch_size(args, batched)));
    return tuple(all, args.where);
  };
  row.sample = [](Sampler& sampler) {
    const Shape shape = sampler.shape(0, 3);
    Sample sample{{sampler.tensor(shape, -2, 2), sampler.tensor(sampler.shape(0, 2), -2, 2)}, {}};
    // By the op itself, since `get` would hand back what went in.
    sample.finish = [i = sampler.integer(0, 1)](const Tensor& t) {
      return record(op_named("get"), {t}, make_attrs(ElementAttrs{i}), {});
    };
    return sample;
  };
  table.add(std::move(row));
}

void register_get(OpTable& table) {
  OpInfo row = row_of("get", "element i of a tuple", 1);
  row.infer = [](const InferArgs& args) {
    const auto index = static_cast<std::size_t>(args.as<ElementAttrs>().index);
    if (args.aval(0).kind != Kind::tuple || index >= avals_of(args.in[0]).size())
      throw core::InvalidArgument("get", "expected a tuple with an element {}, got {} {}", index,
                                  args.aval(0).text(), at_line(args.where));
    return avals_of(args.in[0])[index];
  };
  row.run = [](R args) {
    return static_cast<const TupleValue&>(*args.in[0].node().object)
        .elements[static_cast<std::size_t>(args.as<ElementAttrs>().index)];
  };
  row.derivative.formula = "element i of the tangent";
  row.derivative.jvp = [](R args, std::span<const Tensor> tangents) {
    if (!core::is_float(args.out.dtype())) return Tensor();
    return if_not_zero(get(tangents[0], static_cast<std::size_t>(args.as<ElementAttrs>().index), args.where));
  };
  row.derivative.vjp = [](R args, const Tensor& cotangent, std::size_t) {
    Tensors all;
    for (const Aval& aval : avals_of(args.in[0])) all.push_back(zeros(aval.shape, aval.dtype, aval.device));
    all[static_cast<std::size_t>(args.as<ElementAttrs>().index)] = cotangent;
    return tuple(all, args.where);
  };
  row.batch = [](R args, const std::vector<bool>&) { return args.again(args.in); };
  row.sample = [](Sampler& sampler) {
    Sample sample{{sampler.tensor(sampler.shape(0, 3), -2, 2), sampler.tensor(sampler.shape(0, 2), -2, 2)},
                  make_attrs(ElementAttrs{sampler.integer(0, 1)})};
    sample.prepare = [](const Tensors& in) -> Tensors { return {tuple(in)}; };
    return sample;
  };
  table.add(std::move(row));
}

}  // namespace

void register_tuples(OpTable& table) {
  register_tuple(table);
  register_get(table);
}

Tensor tuple(const Tensors& elements, std::source_location where) {
  static const OpInfo& op = op_named("tuple");
  if (elements.empty())
    throw core::InvalidArgument("tuple", "expected elements, got none {}", at_line(where));
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

Tensor evaluated_tuple(Tensors elements) {
  eval(elements);
  NodePtr node(new Node);
  const Device device = elements.empty() ? cpu : elements[0].device();
  node->aval = tuple_aval(device);
  auto* value = new TupleValue(device, avals_of(elements));
  node->object = OpaquePtr(value);
  value->elements = std::move(elements);
  return Tensor(std::move(node));
}

Aval tuple_aval(Device device) { return {{}, DType::f64, device, {}, Kind::tuple}; }

}  // namespace lodestone::engine
