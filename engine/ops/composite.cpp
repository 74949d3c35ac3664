// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/composite.hpp"

#include "engine/record/rule_place.hpp"

namespace lodestone::engine {
namespace {

Tensors copy_of(std::span<const Tensor> tensors) { return {tensors.begin(), tensors.end()}; }

/// The cotangents of the wanted inputs by one trace, in which the others are constants.
Tensors pull_back_decomposition(const RuleArgs& args, const Tensor& cotangent,
                                const std::vector<bool>& wanted) {
  Tensors inputs = copy_of(args.in), followed;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i]) followed.push_back(inputs[i]);
  }
  const auto of_followed = [&](const Tensors& marked) {
    for (std::size_t i = 0, next = 0; i < wanted.size(); ++i) {
      if (wanted[i]) inputs[i] = marked[next++];
    }
    return decomposition(args)(inputs);
  };
  const Tensors cotangents = Trace::of(of_followed, followed, args.where).pull_back({cotangent});
  Tensors result(wanted.size());
  for (std::size_t i = 0, next = 0; i < wanted.size(); ++i) {
    if (wanted[i]) result[i] = cotangents[next++];
  }
  return result;
}

}  // namespace

Function decomposition(const RuleArgs& args) {
  return [&args](const Tensors& inputs) -> Tensors {
    const RulePlace place(args.where);
    return {args.op.decompose({args.op, inputs, args.out, args.attrs, args.where})};
  };
}

OpInfo composite(std::string name, std::string formula, int n_inputs, DTypes dtypes,
                 std::function<Tensor(const RuleArgs&)> decompose) {
  OpInfo row;
  row.name = std::move(name);
  row.formula = std::move(formula);
  row.n_inputs = n_inputs;
  row.dtypes = dtypes;
  row.decompose = std::move(decompose);
  row.derivative.formula = "of the decomposition";
  row.derivative.jvp = [](const RuleArgs& args, std::span<const Tensor> tangents) {
    return Trace::of(decomposition(args), copy_of(args.in), args.where).push_forward(copy_of(tangents))[0];
  };
  row.derivative.pull_back = pull_back_decomposition;
  return row;
}

}  // namespace lodestone::engine
