// SPDX-License-Identifier: Apache-2.0
#include "engine/transform/custom.hpp"

#include "engine/core/error.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/rules.hpp"
#include "engine/ops/sampler.hpp"
#include "engine/record/tuple.hpp"
#include "engine/transform/register.hpp"
#include "engine/transform/subgraph.hpp"
#include "engine/transform/transforms.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;

struct CustomAttrs {
  Subgraph body;
  std::string name;
  std::size_t n_own = 0;  ///< inputs of the rules; the others were captured
  Function jvp, vjp;      ///< functions of (x…, y…, dx… or ȳ…); empty: there is none
  static auto fields() {
    return std::tuple{Field{"name", &CustomAttrs::name}, Field{"body", &CustomAttrs::body}};
  }
};

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
                         args.as<CustomAttrs>().name, list(like), rule, list(results), at_line(args.where));
}

[[noreturn]] void throw_captured(R args) {
  throw core::InvalidArgument(
      "custom#derivative_of_captured",
      "{}: a derivative was asked for of a tensor that the function captured; make it an argument {}",
      args.as<CustomAttrs>().name, at_line(args.where));
}

/// Returns the result of a rule for (x…, y…, more…).
Tensors apply_rule(R args, const Function& rule, std::string_view which, const Tensors& more,
                   const Tensors& like) {
  const auto& attrs = args.as<CustomAttrs>();
  if (!rule)
    throw core::InvalidArgument("custom#no_rule", "{}: expected a rule for {}, none was given {}", attrs.name,
                                which, at_line(args.where));
  Tensors results = rule(joined(
      {args.in.first(static_cast<std::size_t>(attrs.n_own)), elements_of(args.out, args.where), more}));
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
  return tuple(apply_rule(args, attrs.jvp, "jvp", dx, elements_of(args.out, args.where)), args.where);
}

Tensors custom_pull_back(R args, const Tensor& cotangent, const std::vector<bool>& wanted) {
  const auto& attrs = args.as<CustomAttrs>();
  const auto n_own = static_cast<std::ptrdiff_t>(attrs.n_own);
  if (std::find(wanted.begin() + n_own, wanted.end(), true) != wanted.end()) throw_captured(args);
  const Tensors own(args.in.begin(), args.in.begin() + n_own);
  Tensors result = apply_rule(args, attrs.vjp, "vjp", elements_of(cotangent, args.where), own);
  result.resize(wanted.size());
  return result;
}

Tensor custom_batch(R args, const std::vector<bool>& marked) {
  const auto& attrs = args.as<CustomAttrs>();
  const Dim size = batch_size(args, marked);
  Tensors inputs;
  for (std::size_t i = 0; i < marked.size(); ++i) inputs.push_back(with_batch(args.in[i], marked[i], size));
  const auto each = [&](const Function& rule) { return rule ? vmap(rule, {}, args.where) : rule; };
  const Subgraph body = batched(attrs.body, std::vector<bool>(marked.size(), true), size, args.where);
  return record(args.op, inputs,
                make_attrs(CustomAttrs{body, attrs.name, attrs.n_own, each(attrs.jvp), each(attrs.vjp)}),
                args.where);
}

/// A rule as a function of one list.
Function flat(const std::function<Tensors(const Tensors&, const Tensors&, const Tensors&)>& rule,
              std::size_t n_x, std::size_t n_y) {
  if (!rule) return {};
  return [rule, n_x, n_y](const Tensors& all) {
    const auto y = all.begin() + static_cast<std::ptrdiff_t>(n_x),
               more = y + static_cast<std::ptrdiff_t>(n_y);
    return rule({all.begin(), y}, {y, more}, {more, all.end()});
  };
}

CustomAttrs attrs_of(const Function& f, const CustomRules& rules, std::span<const Tensor> x,
                     std::source_location where) {
  const Subgraph body(f, avals_of(x), where);
  return {body, rules.name, x.size(), flat(rules.jvp, x.size(), body.n_outputs()),
          flat(rules.vjp, x.size(), body.n_outputs())};
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
  Sample sample{inputs, make_attrs(attrs_of(f, rules, inputs, {}))};
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
    return evaluated_tuple(args.as<CustomAttrs>().body({args.in.begin(), args.in.end()}));
  };
  row.runs_when_recorded = [](const Attrs* attrs) {
    return attrs_as<CustomAttrs>(*attrs).body.trace().runs_when_recorded();
  };
  row.derivative.formula = "the rules that were given";
  row.derivative.jvp = custom_jvp;
  row.derivative.pull_back = custom_pull_back;
  row.batch = custom_batch;
  row.sample = sample_custom;
  table.add(std::move(row));
}

Function custom(Function f, CustomRules rules, std::source_location where) {
  return [f = std::move(f), rules = std::move(rules), where](const Tensors& x) -> Tensors {
    static const OpInfo& op = op_named("custom");
    if (x.empty())
      throw core::InvalidArgument("custom#no_arguments",
                                  "{}: expected at least one argument, but the list is empty {}", rules.name,
                                  at_line(where));
    const CustomAttrs attrs = attrs_of(f, rules, x, where);
    Tensors inputs = x;
    inputs.insert(inputs.end(), attrs.body.captured().begin(), attrs.body.captured().end());
    return elements_of(record(op, inputs, make_attrs(attrs), where), where);
  };
}

}  // namespace lodestone::engine
