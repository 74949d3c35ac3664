// SPDX-License-Identifier: Apache-2.0
// The rows of tuples and their elements; the functions that record them stand in engine/record/tuple.hpp.
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

/// A tangent that is not known to be zero.
Tensor if_not_zero(const Tensor& tangent) { return is_zero_tangent(tangent) ? Tensor() : tangent; }

OpInfo row_of(std::string name, std::string formula, int n_inputs) {
  OpInfo row;
  row.name = std::move(name);
  row.formula = std::move(formula);
  row.n_inputs = n_inputs;
  row.dtypes = any_computed;
  row.op_class = OpClass::control;
  row.stacks = true;
  return row;
}

void register_tuple(OpTable& table) {
  OpInfo row = row_of("tuple", "(x₀, x₁, …)", -1);
  row.infer = [](const InferArgs& args) { return tuple_aval(args.aval(0).device); };
  row.results = [](const InferArgs& args) { return avals_of(args.in); };
  row.run = [](R args) { return evaluated_tuple({args.in.begin(), args.in.end()}); };
  row.derivative.formula = "(dx₀, dx₁, …)";
  row.derivative.jvp = [](R args, std::span<const Tensor> tangents) {
    return tuple(tangents_or_zeros(tangents, args.in), args.where);
  };
  row.derivative.vjp = [](R args, const Tensor& cotangent, std::size_t which) {
    return if_not_zero(get(cotangent, which, args.where));
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
      throw core::InvalidArgument("get#no_such_element", "expected a tuple with an element {}, got {} {}",
                                  index, args.aval(0).text(), at_line(args.where));
    return avals_of(args.in[0])[index];
  };
  row.run = [](R args) {
    return evaluated_elements(args.in[0].node())[static_cast<std::size_t>(args.as<ElementAttrs>().index)];
  };
  row.derivative.formula = "element i of the tangent";
  row.derivative.jvp = [](R args, std::span<const Tensor> tangents) {
    if (!core::is_float(args.out.dtype())) return Tensor();
    return if_not_zero(get(tangents[0], static_cast<std::size_t>(args.as<ElementAttrs>().index), args.where));
  };
  row.derivative.vjp = [](R args, const Tensor& cotangent, std::size_t) {
    Tensors all;
    for (const Aval& aval : avals_of(args.in[0])) {
      const bool is_this = std::ssize(all) == args.as<ElementAttrs>().index;
      all.push_back(is_this ? cotangent : zeros(aval.shape, aval.dtype, aval.device));
    }
    return tuple(all, args.where);
  };
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

}  // namespace lodestone::engine
