// SPDX-License-Identifier: Apache-2.0
// Symbols: inputs of the node c (carry), x [T, …], k (captured, the same at every step); c', y = f(c, x_t,
// k).
#include "engine/core/error.hpp"
#include "engine/ops/batching.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/rules.hpp"
#include "engine/ops/sampler.hpp"
#include "engine/record/tuple.hpp"
#include "engine/transform/attributes.hpp"
#include "engine/transform/control.hpp"
#include "engine/transform/register.hpp"
#include "engine/transform/subgraph.hpp"

#include <algorithm>
#include <cstring>

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;
using Marks = std::vector<bool>;

/// A list of tensors taken apart piece by piece.
class Pieces {
 public:
  explicit Pieces(const Tensors& all) : all_(all) {}
  Tensors next(std::size_t n) {
    const auto first = all_.begin() + static_cast<std::ptrdiff_t>(taken_);
    taken_ += n;
    return {first, first + static_cast<std::ptrdiff_t>(n)};
  }
  Tensors rest() { return next(all_.size() - taken_); }

 private:
  const Tensors& all_;
  std::size_t taken_ = 0;
};

std::size_t count(const Marks& marks) {
  return static_cast<std::size_t>(std::count(marks.begin(), marks.end(), true));
}
Marks part(const Marks& marks, std::size_t first, std::size_t n) {
  return {marks.begin() + static_cast<std::ptrdiff_t>(first),
          marks.begin() + static_cast<std::ptrdiff_t>(first + n)};
}

Aval stacked(Aval aval, Dim size) {
  aval.shape = aval.shape.inserted(0, size);
  return aval;
}
Aval unstacked(Aval aval) {
  aval.shape = aval.shape.erased(0);
  return aval;
}

struct Parts {
  Tensors c, x, k;
};
Parts parts_of(R args) {
  const auto& attrs = args.as<LoopAttrs>();
  const Tensors all(args.in.begin(), args.in.end());
  Pieces pieces(all);
  return {pieces.next(attrs.n_carry), pieces.next(attrs.n_x), pieces.rest()};
}

/// Records a scan of a function of (c…, x…, k…); no ties to anything else.
Tensors record_scan(const Function& f, const Parts& parts, Direction direction, std::source_location where) {
  static const OpInfo& op = op_named("scan");
  std::vector<Aval> avals = avals_of(parts.c);
  for (const Tensor& x : parts.x) avals.push_back(unstacked(x.aval()));
  for (const Tensor& k : parts.k) avals.push_back(k.aval());
  const LoopAttrs attrs{Subgraph(f, avals, where), parts.c.size(), parts.x.size(), direction};
  return elements_of(record(op, joined({parts.c, parts.x, parts.k}), make_attrs(attrs), where), where);
}

// ---- Shapes and values -----------------------------------------------------------------------------------

/// Checks that the first of so many outputs are like the carry.
void check_carry(const LoopAttrs& attrs, std::size_t n_outputs, const std::source_location& where) {
  const std::vector<Aval> in = attrs.body.inputs(), out = attrs.body.outputs();
  for (std::size_t i = 0; i < attrs.n_carry; ++i) {
    if (n_outputs <= i || !(in[i] == out[i]))
      throw core::ShapeError("scan#carry_changes", "expected carry {} to stay {}, the function gives {} {}",
                             i, in[i].text(), i < n_outputs ? out[i].text() : "none", at_line(where));
  }
}

Aval infer_scan(const InferArgs& args) {
  const auto& attrs = args.as<LoopAttrs>();
  check_carry(attrs, attrs.body.n_outputs(), args.where);
  return tuple_aval(args.aval(0).device);
}

std::vector<Aval> scan_results(const InferArgs& args) {
  const auto& attrs = args.as<LoopAttrs>();
  std::vector<Aval> result = attrs.body.outputs();
  for (std::size_t i = attrs.n_carry; i < result.size(); ++i)
    result[i] = stacked(result[i], args.aval(attrs.n_carry).shape[0]);
  return result;
}

/// The arrays that a scan stacks up, slice by slice.
class Stacks {
 public:
  Stacks(std::span<const Aval> slices, Dim n_steps) {
    for (const Aval& each : slices) arrays_.push_back(new_array(stacked(each, n_steps)));
  }
  void write(Dim t, std::span<const Tensor> slices) const {
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      const auto bytes = slices[i].bytes();
      if (!bytes.empty())
        std::memcpy(arrays_[i].node().data() + static_cast<std::size_t>(t) * bytes.size(), bytes.data(),
                    bytes.size());
    }
  }
  [[nodiscard]] const Tensors& arrays() const { return arrays_; }

 private:
  Tensors arrays_;
};

/// Returns a slice of an evaluated array as a look at it.
Tensor slice_at(const Tensor& x, const Aval& aval, Dim t) {
  NodePtr node(new Node);
  node->aval = aval;
  node->buffer = x.node().buffer;
  node->look = x.node().look;
  node->look.offset += t * node->look.strides[0];
  node->look.strides = node->look.strides.erased(0);
  return Tensor(std::move(node));
}

Tensor run_scan(R args) {
  const auto& attrs = args.as<LoopAttrs>();
  auto [carry, x, k] = parts_of(args);
  const Dim n_steps = x[0].shape()[0];
  const std::vector<Aval> outputs = attrs.body.outputs();
  const Stacks ys(std::span<const Aval>(outputs).subspan(attrs.n_carry), n_steps);
  std::shared_ptr<const LoopPlan> plan;
  carry = without_gaps(std::move(carry));
  for (Dim step = 0; step < n_steps; ++step) {
    const Dim t = attrs.direction == Direction::forward ? step : n_steps - 1 - step;
    Tensors in = std::move(carry);
    for (const Tensor& each : x) in.push_back(slice_at(each, unstacked(each.aval()), t));
    in.insert(in.end(), k.begin(), k.end());
    if (step == 0) plan = attrs.body.plans().at(attrs.body.trace(), in, attrs.n_carry, n_steps);
    Tensors given = plan ? plan->run(in) : attrs.body(in);
    eval(given);
    ys.write(t, std::span(given).subspan(attrs.n_carry));
    given.resize(attrs.n_carry);
    carry = without_gaps(std::move(given));
  }
  return evaluated_tuple(joined({carry, without_gaps(ys.arrays())}), args.in[0].device());
}

// ---- Derivatives -----------------------------------------------------------------------------------------

Marks floats_of(const std::vector<Aval>& avals, std::size_t n) {
  Marks result;
  for (std::size_t i = 0; i < n; ++i) result.push_back(has_tangents(avals[i]));
  return result;
}

/// Returns a scan that carries the tangents beside the carry.
Tensor scan_jvp(R args, std::span<const Tensor> tangents) {
  const auto& attrs = args.as<LoopAttrs>();
  const std::vector<Aval> inputs = attrs.body.inputs();
  const auto [c, x, k] = parts_of(args);
  Marks marked = present(tangents, inputs);
  const Marks of_carry = floats_of(inputs, attrs.n_carry);
  std::copy(of_carry.begin(), of_carry.end(),
            marked.begin());  // a tangent that is zero at first need not stay so
  Tensors all(tangents.begin(), tangents.end());
  for (std::size_t i = 0; i < attrs.n_carry; ++i) all[i] = tangent_or_zeros(all[i], c[i]);
  Pieces pieces(all);
  const Marks of_x = part(marked, attrs.n_carry, attrs.n_x),
              of_k = part(marked, attrs.n_carry + attrs.n_x, k.size());
  const Tensors dc = picked(pieces.next(attrs.n_carry), of_carry), dx = picked(pieces.next(attrs.n_x), of_x),
                dk = picked(pieces.rest(), of_k);
  const Function step = [&, n_k = k.size()](const Tensors& in) {
    Pieces of(in);
    const Tensors c1 = of.next(attrs.n_carry), dc1 = of.next(dc.size()), x1 = of.next(attrs.n_x),
                  dx1 = of.next(dx.size()), k1 = of.next(n_k);
    const Trace trace = attrs.body.trace().again(joined({c1, x1, k1}), marked);
    const Tensors change =
        tangents_or_zeros(trace.push_forward(spread(joined({dc1, dx1, of.rest()}), marked)), trace.outputs());
    Pieces primal(trace.outputs()), moved(change);
    const Tensors next = primal.next(attrs.n_carry);
    return joined({next, picked(moved.next(attrs.n_carry), of_carry), moved.rest()});
  };
  const Tensors result =
      record_scan(step, {joined({c, dc}), joined({x, dx}), joined({k, dk})}, attrs.direction, args.where);
  Pieces given(result);
  static_cast<void>(given.next(attrs.n_carry));
  const Tensors change = tangents_or_zeros(spread(given.next(dc.size()), of_carry), c);
  return tuple(joined({change, given.rest()}), args.where);
}

/// The carry that every step was given. shapes: [T, …].
Tensors carries_of(R args) {
  const auto& attrs = args.as<LoopAttrs>();
  if (attrs.n_carry == 0) return {};
  const Function step = [&](const Tensors& in) {
    Pieces of(in);
    const Tensors before = of.next(attrs.n_carry);
    const Trace again = attrs.body.trace().again(in, Marks(in.size(), false));
    Pieces given(again.outputs());
    return joined({given.next(attrs.n_carry), before});
  };
  const Tensors result = record_scan(step, parts_of(args), attrs.direction, args.where);
  return {result.begin() + static_cast<std::ptrdiff_t>(attrs.n_carry), result.end()};
}

/// Returns a scan the other way that carries the cotangents of the carry, and sums up those of k.
Tensors scan_pull_back(R args, const Tensor& cotangent, const Marks& wanted) {
  const auto& attrs = args.as<LoopAttrs>();
  const std::vector<Aval> inputs = attrs.body.inputs(), outputs = attrs.body.outputs();
  const auto [c, x, k] = parts_of(args);
  const Tensors cotangents = elements_of(cotangent, args.where);
  Marks given = present(cotangents, outputs), marked = wanted;
  for (std::size_t i = 0; i < marked.size(); ++i)
    marked[i] = has_tangents(inputs[i]) && (i < attrs.n_carry || wanted[i]);
  if (count(given) == 0) return Tensors(wanted.size());
  const Marks of_carry = part(marked, 0, attrs.n_carry),
              of_k = part(marked, attrs.n_carry + attrs.n_x, k.size());
  std::copy(of_carry.begin(), of_carry.end(), given.begin());
  Tensors carry_bar, k_bar;
  for (std::size_t i = 0; i < attrs.n_carry; ++i) carry_bar.push_back(cotangents[i]);
  for (const Tensor& each : picked(k, of_k)) k_bar.push_back(zeros_like(each));
  carry_bar = picked(carry_bar, of_carry);
  const Tensors y_bar(cotangents.begin() + static_cast<std::ptrdiff_t>(attrs.n_carry), cotangents.end());
  const Tensors y_given = picked(y_bar, part(given, attrs.n_carry, attrs.n_y()));
  const Function step = [&, n_k_bar = k_bar.size(), n_carry_bar = carry_bar.size()](const Tensors& in) {
    Pieces of(in);
    const Tensors c_bar = of.next(n_carry_bar), sums = of.next(n_k_bar), x1 = of.next(attrs.n_x),
                  c1 = of.next(attrs.n_carry), y1 = of.next(y_given.size()), k1 = of.rest();
    const Tensors at = joined({c1, x1, k1});
    const Tensors back = tangents_or_zeros(
        attrs.body.trace().again(at, marked).pull_back(spread(joined({c_bar, y1}), given)), at);
    Pieces pieces(back);
    const Tensors to_c = picked(pieces.next(attrs.n_carry), of_carry);
    const Tensors to_x = picked(pieces.next(attrs.n_x), part(marked, attrs.n_carry, attrs.n_x));
    Tensors to_k = picked(pieces.rest(), of_k);
    for (std::size_t i = 0; i < to_k.size(); ++i) to_k[i] = add_tangents(sums[i], to_k[i]);
    return joined({to_c, to_k, to_x});
  };
  const Direction other = attrs.direction == Direction::forward ? Direction::reverse : Direction::forward;
  const Tensors result = record_scan(
      step, {joined({carry_bar, k_bar}), joined({x, carries_of(args), y_given}), k}, other, args.where);
  Pieces pieces(result);
  const Tensors to_c = pieces.next(carry_bar.size()), to_k = pieces.next(k_bar.size());
  return spread(joined({to_c, pieces.rest(), to_k}), marked);
}

/// Batches of carries and of what a step gives; x gets its batch behind the steps.
Tensor scan_batch(R args, const Marks& marked) {
  const auto& attrs = args.as<LoopAttrs>();
  const Dim size = batch_size(args, marked);
  Tensors inputs(args.in.begin(), args.in.end());
  Marks of_body = marked;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (i < attrs.n_carry) {
      inputs[i] = with_batch(inputs[i], marked[i], size);
      of_body[i] = true;
    } else if (i < attrs.n_carry + attrs.n_x && marked[i]) {
      inputs[i] = move_axis(inputs[i], 0, 1);
    }
  }
  Tensors all = elements_of(record(args.op, inputs,
                                   make_attrs(LoopAttrs{batched(attrs.body, of_body, size, args.where),
                                                        attrs.n_carry, attrs.n_x, attrs.direction}),
                                   args.where),
                            args.where);
  for (std::size_t i = attrs.n_carry; i < all.size(); ++i) all[i] = move_axis(all[i], 1, 0);
  return tuple(all, args.where);
}

Sample sample_scan(Sampler& sampler) {
  const DType dtype = core::is_float(sampler.dtype()) ? sampler.dtype() : DType::f64;
  const Shape shape = sampler.shape(0, 2);
  const Tensors inputs{sampler.tensor(shape, -1, 1, dtype), sampler.tensor({}, 0, 3, DType::i32),
                       sampler.tensor(shape.inserted(0, sampler.integer(0, 4)), -1, 1, dtype),
                       sampler.tensor(shape, -1, 1, dtype)};
  const Function f = [dtype](const Tensors& in) -> Tensors {  // (c, a counter), x, k
    const Tensor next = 0.5 * in[0] * in[2] + in[3];
    return {next, in[1] + 1, square(next) * in[3] * cast(in[1], dtype), in[1]};
  };
  const std::vector<Aval> avals{inputs[0].aval(), inputs[1].aval(), unstacked(inputs[2].aval()),
                                inputs[3].aval()};
  Sample sample{inputs, make_attrs(LoopAttrs{Subgraph(f, avals, {}), 2, 1,
                                             sampler.chance(0.5) ? Direction::reverse : Direction::forward})};
  sample.finish = [](const Tensor& y) {
    return get(y, 0) + sum(get(y, 2), Axes{get(y, 2).rank() - get(y, 0).rank() - 1});
  };
  return sample;
}

/// A step in which cells are among the carry.
struct Step {
  LoopAttrs attrs;
  Variables carried, read;  ///< those that it assigns, and those that it reads only
};

/// Returns a step of (carry…, cells that it assigns…, x…, cells that it only reads…, captured…). It is made
/// of one with all cells behind carry and x.
Step with_carried_cells(const Subgraph::WithCells& recorded, const LoopAttrs& own,
                        const std::source_location& where) {
  const auto& [body, read, assigned] = recorded;
  Step step{own, assigned, {}};
  if (assigned.empty()) {
    step.read = read;
    return step;
  }
  check_carry(own, body.n_outputs() - assigned.size(), where);
  std::vector<Aval> avals = body.inputs();
  const std::vector<Aval> of_x(avals.begin() + static_cast<std::ptrdiff_t>(own.n_carry),
                               avals.begin() + static_cast<std::ptrdiff_t>(own.n_carry + own.n_x));
  avals.resize(own.n_carry);
  for (const Variable& each : assigned) avals.push_back(each.aval());
  avals.insert(avals.end(), of_x.begin(), of_x.end());
  for (const Variable& each : read) {
    if (std::ranges::find(assigned, each) == assigned.end()) step.read.push_back(each);
  }
  for (const Variable& each : step.read) avals.push_back(each.aval());
  for (const Tensor& each : body.captured()) avals.push_back(each.aval());
  const Function ordered = [&](const Tensors& in) {
    Pieces of(in);
    const Tensors c = of.next(own.n_carry), carried = of.next(assigned.size()), x = of.next(own.n_x),
                  only_read = of.next(step.read.size());
    Tensors cells;
    for (const Variable& each : read) {
      const auto at = std::ranges::find(assigned, each);
      cells.push_back(
          at != assigned.end()
              ? carried[static_cast<std::size_t>(at - assigned.begin())]
              : only_read[static_cast<std::size_t>(std::ranges::find(step.read, each) - step.read.begin())]);
    }
    const Tensors given = body(joined({c, x, cells, of.rest()}));
    Pieces pieces(given);
    const Tensors next = pieces.next(own.n_carry), ys = pieces.next(own.n_y() - assigned.size());
    return joined({next, pieces.rest(), ys});
  };
  step.attrs.body = Subgraph(ordered, avals, where);
  step.attrs.n_carry += assigned.size();
  return step;
}

}  // namespace

void register_scan(OpTable& table) {
  OpInfo row;
  row.name = "scan";
  row.formula = "c, y_t = f(c, x_t), step by step";
  row.n_inputs = -1;
  row.dtypes = any_computed;
  row.infer = infer_scan;
  row.results = scan_results;
  row.run = run_scan;
  row.runs_when_recorded = [](const Attrs* attrs) {
    return attrs_as<LoopAttrs>(*attrs).body.trace().runs_when_recorded();
  };
  row.derivative.formula =
      "scans: of the tangents beside the carry; of the cotangents, from the last step to the first";
  row.derivative.jvp = scan_jvp;
  row.derivative.pull_back = scan_pull_back;
  row.op_class = OpClass::control;
  row.batch = scan_batch;
  row.sample = sample_scan;
  table.add(std::move(row));
}

Scanned scan(const std::function<Tensors(const Tensors& carry, const Tensors& x)>& f, const Tensors& carry,
             const Tensors& xs, Direction direction, std::source_location where) {
  static const OpInfo& op = op_named("scan");
  if (xs.empty())
    throw core::ShapeError("scan#no_steps",
                           "expected tensors to go through step by step, but the list is empty {}",
                           at_line(where));
  std::vector<Aval> avals = avals_of(carry);
  for (const Tensor& x : xs) {
    if (x.rank() == 0 || x.dim(0) != xs[0].dim(0))
      throw core::ShapeError("scan#unequal_steps",
                             "expected the same number of steps along axis 0, got {} and {} {}",
                             xs[0].aval().text(), x.aval().text(), at_line(where));
    avals.push_back(unstacked(x.aval()));
  }
  const Function flat = [&](const Tensors& in) {
    Pieces of(in);
    const Tensors c = of.next(carry.size());
    return f(c, of.rest());
  };
  const auto recorded = Subgraph::with_cells(flat, avals, {}, where);
  const LoopAttrs own{recorded.body, carry.size(), xs.size(), direction};
  const Step step = with_carried_cells(recorded, own, where);
  const Tensors inputs =
      joined({carry, values_of(step.carried), xs, values_of(step.read), recorded.body.captured()});
  const Tensors all = elements_of(record(op, inputs, make_attrs(step.attrs), where), where);
  Pieces pieces(all);
  Tensors last = pieces.next(carry.size());
  assign_all(step.carried, pieces.next(step.carried.size()), where);
  return {std::move(last), pieces.rest()};
}

}  // namespace lodestone::engine
