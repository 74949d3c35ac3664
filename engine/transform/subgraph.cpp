// SPDX-License-Identifier: Apache-2.0
#include "engine/transform/subgraph.hpp"

#include "engine/ops/batching.hpp"
#include "engine/ops/rules.hpp"
#include "engine/record/tuple.hpp"

#include <algorithm>
#include <bit>
#include <mutex>

namespace lodestone::engine {
namespace {

Tensors first_of(const Tensors& tensors, std::size_t n) {
  return {tensors.begin(), tensors.begin() + static_cast<std::ptrdiff_t>(n)};
}
Tensors from(const Tensors& tensors, std::size_t n) {
  return {tensors.begin() + static_cast<std::ptrdiff_t>(n), tensors.end()};
}

/// Records a sub-graph; its derivatives are functions of their own, recorded on their first use.
template <class Record>
auto recorded(const Record& record) {
  const Differentiating no(false);
  return record();
}

/// Returns whether constants have the same bits and strides; objects are the same only if they are one.
bool same_constants(const Tensor& a, const Tensor& b) {
  if (a.node_pointer() == b.node_pointer()) return true;
  if (!(a.aval() == b.aval()) || a.aval().kind != Kind::array || a.node().is_abstract || b.node().is_abstract)
    return false;
  return a.eval().node().look.strides == b.eval().node().look.strides &&
         std::ranges::equal(a.bytes(), b.bytes());
}

/// Returns whether two lists are the same slots, and the same constants where there are none.
bool same_uses(std::span<const Tensor> a, std::span<const Trace::Slot> slots_a, std::span<const Tensor> b,
               std::span<const Trace::Slot> slots_b) {
  bool same = std::ranges::equal(slots_a, slots_b) && a.size() == b.size();
  for (std::size_t i = 0; same && i < a.size(); ++i) same = slots_a[i] >= 0 || same_constants(a[i], b[i]);
  return same;
}

bool same_traces(const Trace& a, const Trace& b) {
  const auto same_step = [&](const Trace::Step& x, const Trace::Step& y) {
    const bool same_attrs = x.attrs && y.attrs ? x.attrs->equals(*y.attrs) : !x.attrs && !y.attrs;
    return x.op == y.op && x.op->runs_when_recorded == nullptr && same_attrs &&
           x.out.aval() == y.out.aval() && same_uses(x.in, a.slots_of(x), y.in, b.slots_of(y));
  };
  return avals_of(a.inputs()) == avals_of(b.inputs()) &&
         std::ranges::equal(a.steps(), b.steps(), same_step) &&
         same_uses(a.outputs(), a.output_slots(), b.outputs(), b.output_slots());
}

}  // namespace

/// Functions made of one; threads may ask at once.
struct Subgraph::Derived {
  std::mutex mutex;
  std::vector<std::pair<Derivation, Subgraph>> all;
};

Subgraph Subgraph::derived(const Derivation& derivation, const std::function<Subgraph()>& make) const {
  if (trace_->runs_when_recorded()) return make();
  {
    const std::lock_guard lock(derived_->mutex);
    const auto known =
        std::ranges::find(derived_->all, derivation, [](const auto& each) { return each.first; });
    if (known != derived_->all.end()) return known->second;
  }
  Subgraph made = make();
  const std::lock_guard lock(derived_->mutex);
  constexpr std::size_t most = 8;
  if (derived_->all.size() == most) derived_->all.erase(derived_->all.begin());
  derived_->all.emplace_back(derivation, made);
  return made;
}

Subgraph::Subgraph(const Function& f, std::span<const Aval> inputs,
                   const std::function<Tensors(const Trace&)>& also, std::source_location where)
    : Subgraph(recorded([&] { return Trace::without_values(f, inputs, where); }), also) {}

Subgraph::Subgraph(Trace trace, const std::function<Tensors(const Trace&)>& also)
    : derived_(std::make_shared<Derived>()) {
  if (also) {
    const Tensors more = also(trace);
    n_picked_ = more.size();
    trace.also_give(more);
  }
  captured_ = trace.lift_captured();
  trace_ = std::make_shared<const Trace>(std::move(trace));
}

Subgraph::WithCells Subgraph::with_cells(const Function& f, std::span<const Aval> inputs,
                                         const std::function<Tensors(const Trace&)>& also,
                                         std::source_location where) {
  Trace::WithCells all = recorded([&] { return Trace::with_cells(f, inputs, where); });
  return {Subgraph(std::move(all.trace), also), std::move(all.read), std::move(all.assigned)};
}

void assign_all(const Variables& cells, std::span<const Tensor> values, const std::source_location& where) {
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i].assign({values[i], where});
}

std::vector<Aval> Subgraph::inputs() const { return avals_of(trace_->inputs()); }
std::vector<Aval> Subgraph::outputs() const { return avals_of(trace_->outputs()); }

Tensors Subgraph::operator()(const Tensors& inputs) const { return trace_->values(inputs); }

std::string attr_text(const Subgraph& subgraph) {
  return fmt::format("{} -> {}", subgraph.n_inputs(), subgraph.n_outputs());
}
std::uint64_t attr_hash(const Subgraph& subgraph) {
  using detail::mixed;
  std::uint64_t hash = mixed(subgraph.n_inputs(), subgraph.n_outputs());
  for (const Trace::Step& each : subgraph.trace().steps()) {
    hash = mixed(hash, std::bit_cast<std::uintptr_t>(each.op));
    hash = mixed(hash, each.attrs ? each.attrs->hash() : 0);
  }
  return hash;
}
bool attr_equals(const Subgraph& a, const Subgraph& b) {
  return &a.trace() == &b.trace() || same_traces(a.trace(), b.trace());
}

Tensors joined(std::initializer_list<std::span<const Tensor>> lists) {
  Tensors result;
  for (const std::span<const Tensor> list : lists) result.insert(result.end(), list.begin(), list.end());
  return result;
}

Tensors picked(std::span<const Tensor> tensors, const std::vector<bool>& marked) {
  Tensors result;
  for (std::size_t i = 0; i < marked.size(); ++i) {
    if (marked[i]) result.push_back(tensors[i]);
  }
  return result;
}

Tensors spread(std::span<const Tensor> tensors, const std::vector<bool>& marked) {
  Tensors result(marked.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < marked.size(); ++i) {
    if (marked[i]) result[i] = tensors[next++];
  }
  return result;
}

std::vector<bool> present(std::span<const Tensor> tangents, std::span<const Aval> of) {
  std::vector<bool> result;
  for (std::size_t i = 0; i < of.size(); ++i)
    result.push_back(has_tangents(of[i]) && !is_zero_tangent(tangents[i]));
  return result;
}

Subgraph pushed_forward(const Subgraph& f, const std::vector<bool>& marked, std::source_location where) {
  std::vector<Aval> avals = f.inputs();
  for (std::size_t i = 0; i < f.n_inputs(); ++i) {
    if (marked[i]) avals.push_back(avals[i]);
  }
  const Function tangents = [&](const Tensors& all) {
    const Trace trace = f.trace().again(first_of(all, f.n_inputs()), marked);
    return tangents_or_zeros(trace.push_forward(spread(from(all, f.n_inputs()), marked)), trace.outputs());
  };
  return f.derived({Subgraph::Derivation::Way::forward, marked, {}, 0},
                   [&] { return Subgraph(tangents, avals, where); });
}

Subgraph pulled_back(const Subgraph& f, const std::vector<bool>& wanted, const std::vector<bool>& given,
                     std::source_location where, std::size_t n_saved) {
  const std::vector<Aval> outputs = f.outputs();
  std::vector<Aval> avals = f.inputs();
  avals.insert(avals.end(), outputs.end() - static_cast<std::ptrdiff_t>(n_saved), outputs.end());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (given[i]) avals.push_back(outputs[i]);
  }
  const Function cotangents = [&](const Tensors& all) {
    const Trace trace =
        f.trace().again(first_of(all, f.n_inputs()), wanted, first_of(from(all, f.n_inputs()), n_saved));
    const Tensors back = trace.pull_back(spread(from(all, f.n_inputs() + n_saved), given));
    Tensors result;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i]) result.push_back(tangent_or_zeros(back[i], all[i]));
    }
    return result;
  };
  return f.derived({Subgraph::Derivation::Way::back, wanted, given, n_saved},
                   [&] { return Subgraph(cotangents, avals, where); });
}

Subgraph batched(const Subgraph& f, const std::vector<bool>& marked, Dim size, std::source_location where) {
  std::vector<Aval> avals = f.inputs();
  for (std::size_t i = 0; i < avals.size(); ++i) {
    if (marked[i]) avals[i].shape = avals[i].shape.inserted(0, size);
  }
  return {[&](const Tensors& inputs) { return with_batches(f.trace(), inputs, marked, size); }, avals, where};
}

}  // namespace lodestone::engine
