// SPDX-License-Identifier: Apache-2.0
// Inside of the transforms: functions that nodes carry (checkpoints, branches, bodies of loops) and functions
// made from them.
#pragma once

#include "engine/transform/loop_body.hpp"

#include <memory>

namespace lodestone::engine {

/// A function recorded once, without values. It has no ties to the outside: what it captured and a transform
/// may follow are further inputs.
class Subgraph {
 public:
  /// Records f of tensors like these. `where`: the place of the call, for messages.
  Subgraph(const Function& f, std::span<const Aval> inputs, std::source_location where)
      : Subgraph(f, inputs, nullptr, where) {}
  /// Records f of tensors like these. The outputs of the steps that `also` picks are further outputs.
  Subgraph(const Function& f, std::span<const Aval> inputs, const std::function<Tensors(const Trace&)>& also,
           std::source_location where);
  struct WithCells;
  /// As the constructor; cells that f reads are inputs behind its own, and what it assigns are outputs behind
  /// its own. The cells hold what they held before.
  [[nodiscard]] static WithCells with_cells(const Function& f, std::span<const Aval> inputs,
                                            const std::function<Tensors(const Trace&)>& also,
                                            std::source_location where);
  /// Returns the captured tensors, which follow the function's own inputs.
  [[nodiscard]] const Tensors& captured() const { return captured_; }
  [[nodiscard]] std::size_t n_inputs() const { return trace_->inputs().size(); }
  [[nodiscard]] std::size_t n_outputs() const { return trace_->outputs().size(); }
  [[nodiscard]] std::vector<Aval> inputs() const;
  [[nodiscard]] std::vector<Aval> outputs() const;
  /// Returns the number of outputs that `also` picked; they are the last ones.
  [[nodiscard]] std::size_t n_picked() const { return n_picked_; }
  [[nodiscard]] const Trace& trace() const { return *trace_; }
  /// Records the function on these inputs, captured ones included.
  [[nodiscard]] Tensors operator()(const Tensors& inputs) const;
  /// Description of what is made of a function: derivatives along these inputs, or of these outputs.
  struct Derivation {
    enum class Way : std::uint8_t { forward, back } way;
    std::vector<bool> inputs, outputs;
    std::size_t n_saved;
    friend bool operator==(const Derivation&, const Derivation&) = default;
  };
  /// Returns a function made of this one; copies share it. `make`: makes it at first. One with ops that run
  /// when they are recorded is made anew each time.
  [[nodiscard]] Subgraph derived(const Derivation& derivation, const std::function<Subgraph()>& make) const;
  /// Returns the plans of a function that a loop runs again and again; copies share them.
  [[nodiscard]] LoopPlans& plans() const { return *plans_; }

 private:
  Subgraph(Trace trace, const std::function<Tensors(const Trace&)>& also);
  std::shared_ptr<const Trace> trace_;
  std::shared_ptr<LoopPlans> plans_ = std::make_shared<LoopPlans>();
  struct Derived;
  std::shared_ptr<Derived> derived_;
  Tensors captured_;
  std::size_t n_picked_ = 0;
};

/// A function that touches cells, without ties to them: whoever calls it gives what they hold, and assigns
/// what it returns.
struct Subgraph::WithCells {
  Subgraph body;
  Variables read, assigned;
};
/// Gives the cells these tensors.
void assign_all(const Variables& cells, std::span<const Tensor> values, const std::source_location& where);
[[nodiscard]] std::string attr_text(const Subgraph& subgraph);  ///< "2 -> 1"
// As attributes, sub-graphs are equal if they do the same ops on the same inputs and constants, wherever they
// were recorded; those with ops that run when they are recorded only if they are one.
[[nodiscard]] std::uint64_t attr_hash(const Subgraph& subgraph);
[[nodiscard]] bool attr_equals(const Subgraph& a, const Subgraph& b);

/// Returns true if tensors like this have derivatives.
[[nodiscard]] inline bool has_tangents(const Aval& aval) {
  return aval.kind == Kind::array && core::is_float(aval.dtype);
}
/// Returns one list after another.
[[nodiscard]] Tensors joined(std::initializer_list<std::span<const Tensor>> lists);
/// Returns the tensors that are marked.
[[nodiscard]] Tensors picked(std::span<const Tensor> tensors, const std::vector<bool>& marked);
/// Returns a list with the tensors at the marked places and none elsewhere.
[[nodiscard]] Tensors spread(std::span<const Tensor> tensors, const std::vector<bool>& marked);
/// Which of these tangents are there, of tensors that have any.
[[nodiscard]] std::vector<bool> present(std::span<const Tensor> tangents, std::span<const Aval> of);

/// Returns the graph (inputs…, tangents of the marked inputs…) ↦ tangents of all outputs.
[[nodiscard]] Subgraph pushed_forward(const Subgraph& f, const std::vector<bool>& marked,
                                      std::source_location where);
/// Returns the graph (inputs…, the last outputs, which are not computed again…, cotangents of the `given`
/// outputs…) ↦ cotangents of the wanted inputs.
[[nodiscard]] Subgraph pulled_back(const Subgraph& f, const std::vector<bool>& wanted,
                                   const std::vector<bool>& given, std::source_location where,
                                   std::size_t n_saved = 0);
/// Returns f over a new axis 0 of the marked inputs and of all outputs.
[[nodiscard]] Subgraph batched(const Subgraph& f, const std::vector<bool>& marked, Dim size,
                               std::source_location where);

}  // namespace lodestone::engine
