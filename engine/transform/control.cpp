// SPDX-License-Identifier: Apache-2.0
#include "engine/transform/control.hpp"

#include "engine/core/error.hpp"
#include "engine/ops/batching.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/rules.hpp"
#include "engine/ops/sampler.hpp"
#include "engine/record/tuple.hpp"
#include "engine/transform/attributes.hpp"
#include "engine/transform/register.hpp"
#include "engine/transform/subgraph.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;

Tensor record_cond(const Tensor& predicate, const Subgraph& yes, const Subgraph& no, const Tensors& operands,
                   std::source_location where) {
  static const OpInfo& op = op_named("cond");
  Tensors inputs{predicate};
  inputs.insert(inputs.end(), operands.begin(), operands.end());
  return record(op, inputs, make_attrs(CondAttrs{yes, no}), where);
}

std::string text_of(const std::vector<Aval>& avals) {
  std::string text;
  for (const Aval& each : avals) text += fmt::format("{}{}", text.empty() ? "" : ", ", each.text());
  return text;
}

Aval infer_cond(const InferArgs& args) {
  const auto& attrs = args.as<CondAttrs>();
  if (args.aval(0).count() != 1 || args.aval(0).dtype != DType::b8)
    throw core::ShapeError("cond#wrong_predicate",
                           "expected one boolean, b8[] or b8[1…], as predicate, got {} {}",
                           args.aval(0).text(), at_line(args.where));
  if (!(attrs.yes.outputs() == attrs.no.outputs())) {
    throw core::ShapeError("cond#branches_differ",
                           "expected both branches to give the same, got {} and {} {}",
                           text_of(attrs.yes.outputs()), text_of(attrs.no.outputs()), at_line(args.where));
  }
  return tuple_aval(args.aval(0).device);
}

Tensors operands_of(R args) { return {args.in.begin() + 1, args.in.end()}; }

Tensor run_cond(R args) {
  const auto& attrs = args.as<CondAttrs>();
  return evaluated_tuple(without_gaps((args.in[0].item<bool>() ? attrs.yes : attrs.no)(operands_of(args))),
                         args.in[0].device());
}

Tensor cond_jvp(R args, std::span<const Tensor> tangents) {
  const auto& [yes, no] = args.as<CondAttrs>();
  const auto along = tangents.subspan(1);
  const std::vector<bool> marked = present(along, yes.inputs());
  Tensors operands = operands_of(args);
  for (const Tensor& each : picked(along, marked)) operands.push_back(each);
  return record_cond(args.in[0], pushed_forward(yes, marked, args.where),
                     pushed_forward(no, marked, args.where), operands, args.where);
}

Tensors cond_pull_back(R args, const Tensor& cotangent, const std::vector<bool>& wanted) {
  const auto& [yes, no] = args.as<CondAttrs>();
  const Tensors cotangents = elements_of(cotangent, args.where);
  const std::vector<bool> given = present(cotangents, yes.outputs());
  std::vector<bool> marked(wanted.begin() + 1, wanted.end());
  for (std::size_t i = 0; i < marked.size(); ++i)
    marked[i] = marked[i] && has_tangents(args.in[i + 1].aval());
  Tensors result(wanted.size());
  const auto any = [](const std::vector<bool>& marks) {
    return std::find(marks.begin(), marks.end(), true) != marks.end();
  };
  if (!any(given) || !any(marked)) return result;
  Tensors operands = operands_of(args);
  for (const Tensor& each : picked(cotangents, given)) operands.push_back(each);
  const Tensors back =
      elements_of(record_cond(args.in[0], pulled_back(yes, marked, given, args.where),
                              pulled_back(no, marked, given, args.where), operands, args.where));
  const Tensors of_operands = spread(back, marked);
  std::copy(of_operands.begin(), of_operands.end(), result.begin() + 1);
  return result;
}

/// [n] as [n, 1, …] of this rank.
Tensor along_first(const Tensor& x, int rank) {
  Shape shape{x.count()};
  while (shape.rank() < rank) shape.push_back(1);
  return reshape(x, shape);
}

Tensor cond_batch(R args, const std::vector<bool>& marked) {
  const auto& [yes, no] = args.as<CondAttrs>();
  const Dim size = batch_size(args, marked);
  Tensors operands = operands_of(args);
  std::vector<bool> of_operands(marked.begin() + 1, marked.end());
  if (!marked[0])
    return record_cond(args.in[0], batched(yes, of_operands, size, args.where),
                       batched(no, of_operands, size, args.where), operands, args.where);
  for (std::size_t i = 0; i < operands.size(); ++i)
    operands[i] = with_batch(operands[i], of_operands[i], size);
  of_operands.assign(operands.size(), true);
  const Tensors if_true = with_batches(yes.trace(), operands, of_operands, size),
                if_false = with_batches(no.trace(), operands, of_operands, size);
  Tensors chosen;
  for (std::size_t i = 0; i < if_true.size(); ++i) {
    const Tensor mask = broadcast_to(along_first(args.in[0], if_true[i].rank()), if_true[i].shape());
    chosen.push_back(select({mask, args.where}, if_true[i], if_false[i]));
  }
  return tuple(chosen, args.where);
}

Sample sample_cond(Sampler& sampler) {
  const Shape shape = sampler.shape(0, 3);
  const Tensors operands{sampler.tensor(shape, -1, 1, DType::f64), sampler.tensor(shape, -1, 1, DType::f64)};
  const Function f = [](const Tensors& x) -> Tensors { return {x[0] * x[1], sin(x[0])}; };
  const Function g = [](const Tensors& x) -> Tensors { return {x[0] + 2.0 * x[1], square(x[1])}; };
  Sample sample{
      {sampler.tensor({}, 0, 1, DType::b8), operands[0], operands[1]},
      make_attrs(CondAttrs{Subgraph(f, avals_of(operands), {}), Subgraph(g, avals_of(operands), {})})};
  sample.finish = [](const Tensor& y) { return get(y, 0) * get(y, 1); };
  return sample;
}

/// Returns the place of a cell in a list, the number of cells for one that is not there.
std::size_t index_of(const Variables& cells, const Variable& cell) {
  return static_cast<std::size_t>(std::ranges::find(cells, cell) - cells.begin());
}

/// Returns the cells of all lists, each once.
Variables united(std::initializer_list<std::span<const Variable>> lists) {
  Variables result;
  for (const std::span<const Variable> list : lists) {
    for (const Variable& each : list) {
      if (index_of(result, each) == result.size()) result.push_back(each);
    }
  }
  return result;
}

}  // namespace

void register_control(OpTable& table) {
  OpInfo row;
  row.name = "cond";
  row.formula = "f(x) where p, else g(x)";
  row.n_inputs = -1;
  row.dtypes = {DType::b8};
  row.infer = infer_cond;
  row.results = [](const InferArgs& args) { return args.as<CondAttrs>().yes.outputs(); };
  row.run = run_cond;
  row.runs_when_recorded = [](const Attrs* attrs) {
    const auto& [yes, no] = attrs_as<CondAttrs>(*attrs);
    return yes.trace().runs_when_recorded() || no.trace().runs_when_recorded();
  };
  row.derivative.formula = "the derivative of f or of g";
  row.derivative.jvp = cond_jvp;
  row.derivative.pull_back = cond_pull_back;
  row.op_class = OpClass::control;
  row.batch = cond_batch;
  row.sample = sample_cond;
  table.add(std::move(row));
}

Tensors cond(const Located& predicate, const Function& f, const Function& g, const Tensors& inputs) {
  const std::vector<Aval> own = avals_of(inputs);
  const auto yes = Subgraph::with_cells(f, own, {}, predicate.where),
             no = Subgraph::with_cells(g, own, {}, predicate.where);
  const Variables assigned = united({yes.assigned, no.assigned}),
                  cells = united({yes.read, no.read, assigned});
  const Tensors operands = joined({inputs, values_of(cells), yes.body.captured(), no.body.captured()});
  const auto taking_all = [&](const Subgraph::WithCells& branch, std::size_t skipped) {
    const Function all_to_all = [&](const Tensors& all) {
      const std::span<const Tensor> given(all),
          held = given.subspan(inputs.size(), cells.size()),
          captured = given.subspan(inputs.size() + cells.size() + skipped);
      const auto at = [&](const Variable& cell) { return held[index_of(cells, cell)]; };
      Tensors read;
      for (const Variable& each : branch.read) read.push_back(at(each));
      Tensors results = branch.body(
          joined({given.first(inputs.size()), read, captured.first(branch.body.captured().size())}));
      const std::size_t n_own = results.size() - branch.assigned.size();
      const Tensors updated(results.begin() + static_cast<std::ptrdiff_t>(n_own), results.end());
      results.resize(n_own);
      for (const Variable& each : assigned) {
        const std::size_t i = index_of(branch.assigned, each);
        results.push_back(i < updated.size() ? updated[i] : at(each));
      }
      return results;
    };
    return Subgraph(all_to_all, avals_of(operands), predicate.where);
  };
  const bool is_alone = operands.size() == inputs.size();  // else each branch takes what either touches
  const Subgraph if_true = is_alone ? yes.body : taking_all(yes, 0),
                 if_false = is_alone ? no.body : taking_all(no, yes.body.captured().size());
  Tensors all = elements_of(record_cond(predicate.tensor, if_true, if_false, operands, predicate.where),
                            predicate.where);
  const std::size_t n_own = all.size() - assigned.size();
  assign_all(assigned, std::span(all).subspan(n_own), predicate.where);
  all.resize(n_own);
  return all;
}

}  // namespace lodestone::engine
