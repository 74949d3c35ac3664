// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: the graph a function recorded, as a list that can be walked both ways.
#pragma once

#include "engine/record/function.hpp"
#include "engine/record/record.hpp"
#include "engine/record/variable.hpp"

#include <span>
#include <vector>

namespace lodestone::engine {

class Effects;
class FeedScope;
class StateScope;

/// The ops between a function's inputs and its outputs that depend on the inputs, in the order recorded.
/// Recorded without values it also has those ops that depend on the inputs and must not be left out
/// (`OpInfo::runs_when_recorded`), though no output needs them. Holds what it needs, so that evaluating any
/// of the tensors does not take it apart.
class Trace {
 public:
  /// The number of an input, 0 …, or of a step, behind the inputs; -1 for what does not depend on the inputs.
  using Slot = int;
  struct Step {
    const OpInfo* op;
    Tensors in;
    Tensor out;
    AttrsPtr attrs;
    std::source_location where;
    bool is_needed;          ///< by an output
    std::size_t first_slot;  ///< the place of its inputs in the list of all slots
    [[nodiscard]] RuleArgs args() const { return {*op, in, out, attrs, where}; }
  };

  /// Calls f with copies of the inputs that are nodes of their own: what f captured beside its arguments is a
  /// constant. `where`: the place of the call.
  [[nodiscard]] static Trace of(const Function& f, const Tensors& inputs, std::source_location where);
  /// Calls f with placeholders of these avals.
  [[nodiscard]] static Trace without_values(const Function& f, std::span<const Aval> inputs,
                                            std::source_location where);

  /// Parts of a trace. Slots are those of what the steps take, one after the other, and of the outputs.
  struct Parts {
    Tensors inputs;
    std::vector<Step> steps = {};
    std::vector<Slot> input_slots = {};
    Tensors outputs = {};
    std::vector<Slot> output_slots = {};
  };
  /// Takes what was recorded without a trace.
  explicit Trace(Parts parts);

  struct WithCells;
  /// As `without_values`; cells that f reads are further inputs, behind the others, and cells that it assigns
  /// further outputs. Afterwards all of them hold what they held before. `feeds`: a scope opened for it,
  /// whose numbers are the last inputs.
  [[nodiscard]] static WithCells with_cells(const Function& f, std::span<const Aval> inputs,
                                            std::source_location where, const FeedScope* feeds = nullptr);

  [[nodiscard]] const Tensors& inputs() const { return inputs_; }
  [[nodiscard]] const Tensors& outputs() const { return outputs_; }
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  /// Returns the slots of what a step takes, and of the outputs.
  [[nodiscard]] std::span<const Slot> slots_of(const Step& step) const {
    return std::span(input_slots_).subspan(step.first_slot, step.in.size());
  }
  [[nodiscard]] std::span<const Slot> output_slots() const { return output_slots_; }

  /// Returns true if an op has to run when it is recorded.
  [[nodiscard]] bool runs_when_recorded() const { return runs_when_recorded_; }
  /// Returns the outputs of the steps of this op that outputs need.
  [[nodiscard]] std::vector<std::pair<Tensor, AttrsPtr>> outputs_of(const OpInfo& op) const;
  /// Gives more of its steps' outputs, behind the others.
  void also_give(const Tensors& more);
  /// Makes captured tensors that a transform may follow further inputs, behind the others, and returns them.
  /// Other captured tensors stay constants.
  Tensors lift_captured();
  /// Records all ops anew on other inputs and returns the outputs.
  [[nodiscard]] Tensors values(const Tensors& inputs) const;
  /// Records the ops that the outputs need anew on other inputs, to compute again what derivatives need:
  /// none of them runs for its own sake. Derivatives of the result are with respect to the active inputs.
  /// `saved`: values of the last outputs, which are then taken from there.
  [[nodiscard]] Trace again(const Tensors& inputs, const std::vector<bool>& active,
                            const Tensors& saved = {}) const;

  /// Returns the tangents of the outputs; not valid: zero.
  [[nodiscard]] Tensors push_forward(const Tensors& tangents) const;
  /// Returns the cotangents of the inputs; not valid: zero.
  [[nodiscard]] Tensors pull_back(const Tensors& cotangents) const;
  struct Batched {
    Tensors outputs;
    std::vector<bool> has_batch;  ///< false: the output does not depend on a batch and has no axis for it
  };
  /// Records an op for inputs that have a batch as axis 0 where `batched`; see ops/batching.hpp.
  using BatchRule = Tensor (*)(const RuleArgs& args, const std::vector<bool>& batched);
  /// Returns the outputs for inputs that have a batch as axis 0 where `batched`.
  [[nodiscard]] Batched batch(const Tensors& inputs, const std::vector<bool>& batched, BatchRule rule) const;

 private:
  Trace() = default;
  Trace(const Function& f, Tensors inputs, const Effects* effects, const StateScope* cells,
        const FeedScope* feeds, std::source_location where);
  /// Makes steps of what the outputs and the effects need.
  void collect(const Effects* effects);
  void add(Step step);
  [[nodiscard]] Slot next_slot() const { return static_cast<Slot>(inputs_.size() + steps_.size()); }
  /// Calls f with each tensor that a step takes or that is an output, and with its slot.
  template <class F>
  void for_each_use(F f);

  Tensors inputs_, outputs_;
  std::vector<Step> steps_;
  std::vector<Slot> input_slots_, output_slots_;
  bool runs_when_recorded_ = false;
};

/// A trace whose last inputs and outputs are cells.
struct Trace::WithCells {
  Trace trace;
  Variables read, assigned;
};

/// Returns true if a transform that is under way may follow a tensor, or none can tell its value.
[[nodiscard]] bool may_be_followed(const Tensor& tensor);

/// Returns true if derivatives will be taken of the trace now recorded on this thread. Expensive ops then
/// keep the data for these derivatives.
[[nodiscard]] bool is_differentiating();

/// Sets the result of `is_differentiating` while it lives.
class Differentiating {
 public:
  explicit Differentiating(bool value);
  ~Differentiating();
  Differentiating(const Differentiating&) = delete;
  Differentiating& operator=(const Differentiating&) = delete;

 private:
  bool before_;
};

}  // namespace lodestone::engine
