// SPDX-License-Identifier: Apache-2.0
#include "engine/transform/custom.hpp"

#include "engine/core/error.hpp"
#include "engine/ops/batching.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/rules.hpp"
#include "engine/ops/sampler.hpp"
#include "engine/record/rule_place.hpp"
#include "engine/record/tuple.hpp"
#include "engine/transform/attributes.hpp"
#include "engine/transform/register.hpp"
#include "engine/transform/subgraph.hpp"
#include "engine/transform/transforms.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;

/// The derivative of y by x or its adjoint, as a function of x, y and more.
using Rule = std::function<Tensors(const Tensors&, const Tensors&, const Tensors&)>;

void check_results(R args, std::string_view rule, const Tensors& results, const Tensors& like) {
  bool fits = results.size() == like.size();
  for (std::size_t i = 0; fits && i < like.size(); ++i)
    fits = !results[i].is_valid() ||
           (results[i].shape() == like[i].shape() && results[i].dtype() == like[i].dtype());
  if (fits) return;
  const auto list = [](const Tensors& tensors) {
    std::vector<std::string> texts;
    for (const Tensor& each : tensors) texts.push_back(each.is_valid() ? each.aval().text() : "none");
    return fmt::format("{}", fmt::join(texts, ", "));
  };
  throw core::ShapeError("custom#wrong_rule_results", "{}: expected {} from {}, got {} {}",
                         args.as<CustomAttrs>().rules->name, list(like), rule, list(results),
                         at_line(args.where));
}

[[noreturn]] void throw_captured(R args) {
  throw core::InvalidArgument(
      "custom#derivative_of_captured",
      "{}: a derivative was asked for of a tensor that the function captured; make it an argument {}",
      args.as<CustomAttrs>().rules->name, at_line(args.where));
}

/// A rule as a function of one list.
Function flat(const Rule& rule, std::size_t n_x, std::size_t n_y) {
  return [&rule, n_x, n_y](const Tensors& all) {
    const RulePlace own = RulePlace::none();
    const auto y = all.begin() + static_cast<std::ptrdiff_t>(n_x),
               more = y + static_cast<std::ptrdiff_t>(n_y);
    return rule({all.begin(), y}, {y, more}, {more, all.end()});
  };
}

/// Returns the results of a rule, item by item.
Tensors apply_rule(R args, const Rule& rule, std::string_view which, const Tensors& more,
                   const Tensors& like) {
  const auto& attrs = args.as<CustomAttrs>();
  if (!rule)
    throw core::InvalidArgument("custom#no_rule", "{}: expected a rule for {}, none was given {}",
                                attrs.rules->name, which, at_line(args.where));
  const Tensors y = elements_of(args.out, args.where);
  Function of_items = flat(rule, attrs.n_own, y.size());
  for (int axis = 0; axis < attrs.n_item_axes; ++axis) of_items = vmap(of_items, {}, args.where);
  Tensors results = of_items(joined({args.in.first(attrs.n_own), y, more}));
  check_results(args, which, results, like);
  for (std::size_t i = 0; i < like.size(); ++i) results[i] = tangent_or_zeros(results[i], like[i]);
  return results;
}

Tensor custom_jvp(R args, std::span<const Tensor> tangents) {
  const auto& attrs = args.as<CustomAttrs>();
  Tensors dx;
  for (std::size_t i = 0; i < tangents.size(); ++i) {
    if (i >= attrs.n_own && tangents[i].is_valid()) throw_captured(args);
    if (i < attrs.n_own) dx.push_back(tangent_or_zeros(tangents[i], args.in[i]));
  }
  return tuple(apply_rule(args, attrs.rules->jvp, "jvp", dx, elements_of(args.out, args.where)), args.where);
}

Tensors custom_pull_back(R args, const Tensor& cotangent, const std::vector<bool>& wanted) {
  const auto& attrs = args.as<CustomAttrs>();
  const auto n_own = static_cast<std::ptrdiff_t>(attrs.n_own);
  if (std::find(wanted.begin() + n_own, wanted.end(), true) != wanted.end()) throw_captured(args);
  const Tensors own(args.in.begin(), args.in.begin() + n_own);
  Tensors result = apply_rule(args, attrs.rules->vjp, "vjp", elements_of(cotangent, args.where), own);
  result.resize(wanted.size());
  return result;
}

Tensor custom_batch(R args, const std::vector<bool>& marked) {
  const auto& attrs = args.as<CustomAttrs>();
  const Dim size = batch_size(args, marked);
  Tensors inputs;
  for (std::size_t i = 0; i < marked.size(); ++i) inputs.push_back(with_batch(args.in[i], marked[i], size));
  const Subgraph body = batched(attrs.body, std::vector<bool>(marked.size(), true), size, args.where);
  return record(args.op, inputs,
                make_attrs(CustomAttrs{body, attrs.n_own, attrs.n_item_axes + 1, attrs.rules}), args.where);
}

Sample sample_custom(Sampler& sampler) {
  const DType dtype = core::is_float(sampler.dtype()) ? sampler.dtype() : DType::f64;
  const Shape shape = sampler.shape(0, 3);
  const Tensors inputs{sampler.tensor(shape, -1, 1, dtype), sampler.tensor(shape, -1, 1, dtype)};
  const Function f = [](const Tensors& x) -> Tensors { return {x[0] * x[1], square(x[1])}; };
  CustomRules rules{"sample"};
  rules.jvp = [](const Tensors& x, const Tensors&, const Tensors& dx) -> Tensors {
    return {x[1] * dx[0] + x[0] * dx[1], 2.0 * x[1] * dx[1]};
  };
  rules.vjp = [](const Tensors& x, const Tensors&, const Tensors& w) -> Tensors {
    return {conj(x[1]) * w[0], conj(x[0]) * w[0] + 2.0 * conj(x[1]) * w[1]};
  };
  Sample sample{inputs, make_attrs(CustomAttrs{Subgraph(f, avals_of(inputs), {}), inputs.size(), 0,
                                               std::make_shared<const CustomRules>(rules)})};
  sample.finish = [](const Tensor& y) { return get(y, 0) + get(y, 1); };
  return sample;
}

}  // namespace

void register_custom(OpTable& table) {
  OpInfo row;
  row.name = "custom";
  row.formula = "f(x), with derivatives written by hand";
  row.n_inputs = -1;
  row.dtypes = any_computed;
  row.infer = [](const InferArgs& args) { return tuple_aval(args.aval(0).device); };
  row.results = [](const InferArgs& args) { return args.as<CustomAttrs>().body.outputs(); };
  row.run = [](R args) {
    return evaluated_tuple(without_gaps(args.as<CustomAttrs>().body({args.in.begin(), args.in.end()})),
                           args.in[0].device());
  };
  row.runs_when_recorded = [](const Attrs* attrs) {
    return attrs_as<CustomAttrs>(*attrs).body.trace().runs_when_recorded();
  };
  row.derivative.formula = "the rules that were given";
  row.derivative.jvp = custom_jvp;
  row.derivative.pull_back = custom_pull_back;
  row.op_class = OpClass::control;
  row.batch = custom_batch;
  row.sample = sample_custom;
  table.add(std::move(row));
}

Function custom(Function f, CustomRules rules, std::source_location where) {
  const auto shared = std::make_shared<const CustomRules>(std::move(rules));
  return [f = std::move(f), rules = shared, where](const Tensors& x) -> Tensors {
    static const OpInfo& op = op_named("custom");
    if (x.empty())
      throw core::InvalidArgument("custom#no_arguments",
                                  "{}: expected at least one argument, but the list is empty {}", rules->name,
                                  at_line(where));
    const CustomAttrs attrs{Subgraph(f, avals_of(x), where), x.size(), 0, rules};
    Tensors inputs = x;
    inputs.insert(inputs.end(), attrs.body.captured().begin(), attrs.body.captured().end());
    return elements_of(record(op, inputs, make_attrs(attrs), where), where);
  };
}

}  // namespace lodestone::engine
