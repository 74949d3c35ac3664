// SPDX-License-Identifier: Apache-2.0
#include "engine/transform/call.hpp"

#include "engine/core/error.hpp"
#include "engine/ops/batching.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/rules.hpp"
#include "engine/ops/sampler.hpp"
#include "engine/record/host_state.hpp"
#include "engine/record/tuple.hpp"
#include "engine/transform/attributes.hpp"
#include "engine/transform/checkpoint.hpp"
#include "engine/transform/register.hpp"

#include <algorithm>
#include <mutex>

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;

Tensor call_jvp(R args, std::span<const Tensor> tangents) {
  const Subgraph& body = args.as<CallAttrs>().body;
  const std::vector<bool> marked = present(tangents, body.inputs());
  return call(pushed_forward(body, marked, args.where), joined({args.in, picked(tangents, marked)}), 0,
              args.where);
}

/// A function as one op, and its recordings so far where calls are equal; threads may call at once.
class Checkpoint {
 public:
  Checkpoint(Function f, std::vector<std::string> save, Calls calls, std::source_location where)
      : f_(std::move(f)), save_(std::move(save)), calls_(calls), where_(where) {}
  [[nodiscard]] Tensors call(const Tensors& x);

 private:
  struct Recording {
    std::vector<Aval> like;
    Subgraph::WithCells function;
    std::vector<HostChoice> choices;  ///< that the function met
  };
  [[nodiscard]] Tensors marked(const Trace& trace) const;
  [[nodiscard]] Subgraph::WithCells recorded(const Tensors& x) const;
  [[nodiscard]] Subgraph::WithCells recorded_once(const Tensors& x);

  const Function f_;
  const std::vector<std::string> save_;
  const Calls calls_;
  const std::source_location where_;
  std::mutex mutex_;
  std::vector<Recording> recordings_;
};

/// Returns the tensors that are marked by the names to be saved.
Tensors Checkpoint::marked(const Trace& trace) const {
  Tensors result;
  std::vector<std::string> missing = save_;
  for (const auto& [tensor, attrs] : trace.outputs_of(op_named("checkpoint_name"))) {
    const std::string& name = attrs_as<NameAttrs>(*attrs).name;
    if (std::find(save_.begin(), save_.end(), name) == save_.end()) continue;
    result.push_back(tensor);
    std::erase(missing, name);
  }
  if (!missing.empty())
    throw core::InvalidArgument(
        "checkpoint#unknown_mark",
        "expected the function to mark a tensor by checkpoint_name(…, \"{}\"), found no such mark {}",
        missing[0], at_line(where_));
  return result;
}

Subgraph::WithCells Checkpoint::recorded(const Tensors& x) const {
  return Subgraph::with_cells(
      f_, avals_of(x), [&](const Trace& trace) { return marked(trace); }, where_);
}

/// Returns a recording for inputs like these that is there, or a new one.
Subgraph::WithCells Checkpoint::recorded_once(const Tensors& x) {
  const std::vector<Aval> like = avals_of(x);
  const auto is_as_then = [](const HostChoice& each) { return each.now() == each.then; };
  {
    const std::lock_guard lock(mutex_);
    for (const Recording& each : recordings_) {
      if (each.like != like || !std::ranges::all_of(each.choices, is_as_then)) continue;
      for (const HostChoice& choice : each.choices) HostStateScope::note(choice.id, choice.now);
      return each.function;
    }
  }
  const HostStateScope host;
  Subgraph::WithCells made = recorded(x);
  const bool is_same_again = made.body.captured().empty() && !made.body.trace().runs_when_recorded() &&
                             std::ranges::all_of(host.choices(), is_as_then);
  if (!is_same_again) return made;
  const std::lock_guard lock(mutex_);
  constexpr std::size_t most = 8;
  if (recordings_.size() == most) recordings_.erase(recordings_.begin());
  recordings_.push_back({like, made, host.choices()});
  return made;
}

Tensors Checkpoint::call(const Tensors& x) {
  const auto [body, read, assigned] = calls_ == Calls::are_equal ? recorded_once(x) : recorded(x);
  const Tensors inputs = joined({x, values_of(read), body.captured()});
  if (inputs.empty()) return f_(x);
  Tensors all = elements_of(engine::call(body, inputs, body.n_picked(), where_), where_);
  const std::size_t n_own = body.n_outputs() - body.n_picked() - assigned.size();
  assign_all(assigned, std::span(all).subspan(n_own, assigned.size()), where_);
  all.resize(n_own);
  return all;
}

Tensors call_pull_back(R args, const Tensor& cotangent, const std::vector<bool>& wanted) {
  const auto& attrs = args.as<CallAttrs>();
  const Tensors cotangents = elements_of(cotangent, args.where);
  const std::vector<bool> given = present(cotangents, attrs.body.outputs());
  std::vector<bool> marked = wanted;
  for (std::size_t i = 0; i < marked.size(); ++i) marked[i] = wanted[i] && has_tangents(args.in[i].aval());
  if (std::find(given.begin(), given.end(), true) == given.end()) return Tensors(wanted.size());
  const auto n_saved = static_cast<std::size_t>(attrs.n_saved);
  Tensors inputs(args.in.begin(), args.in.end());
  for (std::size_t i = attrs.body.n_outputs() - n_saved; i < attrs.body.n_outputs(); ++i)
    inputs.push_back(get(args.out, i, args.where));
  const Subgraph back = pulled_back(attrs.body, marked, given, args.where, n_saved);
  return spread(elements_of(call(back, joined({inputs, picked(cotangents, given)}), 0, args.where)), marked);
}

void register_call(OpTable& table) {
  OpInfo row;
  row.name = "call";
  row.formula = "f(x), as one node that keeps nothing of the inside";
  row.n_inputs = -1;
  row.dtypes = any_computed;
  row.infer = [](const InferArgs& args) { return tuple_aval(args.aval(0).device); };
  row.results = [](const InferArgs& args) { return args.as<CallAttrs>().body.outputs(); };
  row.run = [](R args) {
    return evaluated_tuple(without_gaps(args.as<CallAttrs>().body({args.in.begin(), args.in.end()})),
                           args.in[0].device());
  };
  row.runs_when_recorded = [](const Attrs* attrs) {
    return attrs_as<CallAttrs>(*attrs).body.trace().runs_when_recorded();
  };
  row.derivative.formula = "calls of the derivatives of f, which compute the inside again";
  row.derivative.jvp = call_jvp;
  row.derivative.pull_back = call_pull_back;
  row.op_class = OpClass::control;
  row.batch = [](R args, const std::vector<bool>& batched) {
    const auto& attrs = args.as<CallAttrs>();
    const Subgraph body = engine::batched(attrs.body, batched, batch_size(args, batched), args.where);
    return record(args.op, args.in, make_attrs(CallAttrs{body, attrs.n_saved}), args.where);
  };
  row.sample = [](Sampler& sampler) {
    const DType dtype = core::is_float(sampler.dtype()) ? sampler.dtype() : DType::f64;
    const Shape shape = sampler.shape(0, 3);
    const Tensors inputs{sampler.tensor(shape, -1, 1, dtype), sampler.tensor(shape, -1, 1, dtype)};
    const Function f = [](const Tensors& x) -> Tensors {
      const Tensor product = x[0] * x[1];
      return {product * product + x[0], x[1] * 0.5, product};
    };
    Sample sample{inputs,
                  make_attrs(CallAttrs{Subgraph(f, avals_of(inputs), {}), sampler.chance(0.5) ? 1 : 0})};
    sample.finish = [](const Tensor& y) { return get(y, 0) * get(y, 1); };
    return sample;
  };
  table.add(std::move(row));
}

void register_name(OpTable& table) {
  OpInfo row;
  row.name = "checkpoint_name";
  row.formula = "x, unchanged";
  row.dtypes = any_computed;
  row.infer = [](const InferArgs& args) { return args.aval(0); };
  row.derivative = linear("dx", [](R, const Tensor& cotangent, std::size_t) { return cotangent; });
  row.view = same_look;
  row.op_class = OpClass::elementwise;
  row.sample = [](Sampler& sampler) {
    return Sample{{sampler.tensor(sampler.shape(0, 4), -2, 2)}, make_attrs(NameAttrs{"sample"})};
  };
  table.add(std::move(row));
}

}  // namespace

void register_calls(OpTable& table) {
  register_call(table);
  register_name(table);
}

Tensor call(const Subgraph& body, const Tensors& inputs, std::size_t n_saved, std::source_location where) {
  static const OpInfo& op = op_named("call");
  return record(op, inputs, make_attrs(CallAttrs{body, static_cast<std::int64_t>(n_saved)}), where);
}

Tensor checkpoint_name(const Located& x, std::string name) {
  static const OpInfo& op = op_named("checkpoint_name");
  return record(op, {x.tensor}, make_attrs(NameAttrs{std::move(name)}), x.where);
}

Function checkpoint(Function f, std::vector<std::string> save, Calls calls, std::source_location where) {
  const auto made = std::make_shared<Checkpoint>(std::move(f), std::move(save), calls, where);
  return [made](const Tensors& x) { return made->call(x); };
}

}  // namespace lodestone::engine
