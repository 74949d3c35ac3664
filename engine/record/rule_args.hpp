// SPDX-License-Identifier: Apache-2.0
// What the functions of a row receive and give.
#pragma once

#include "engine/graph/op_info.hpp"
#include "engine/record/tensor.hpp"

#include <functional>
#include <vector>

namespace lodestone::engine {

/// The arguments of a shape rule.
struct InferArgs {
  const OpInfo& op;
  std::span<const Tensor> in;
  const Attrs* attrs;
  std::source_location where;
  [[nodiscard]] const Aval& aval(std::size_t i) const { return in[i].aval(); }
  template <class T>
  [[nodiscard]] const T& as() const {
    return attrs_as<T>(attrs, op.name, where);
  }
};

/// The arguments of a derivative or batching rule: the op, its inputs and its output, all of them graph
/// nodes.
struct RuleArgs {
  const OpInfo& op;
  std::span<const Tensor> in;
  const Tensor& out;
  const AttrsPtr& attrs;
  std::source_location where;
  template <class T>
  [[nodiscard]] const T& as() const {
    return attrs_as<T>(attrs.get(), op.name, where);
  }
  /// Applies the same op with the same attributes to other inputs.
  [[nodiscard]] Tensor again(std::span<const Tensor> inputs) const;
};

/// Inputs drawn from the domain of an op, and its attributes, for tests and checks.
struct Sample {
  std::vector<Tensor> inputs;
  AttrsPtr attrs;
  /// For ops on values that are not arrays: the op's inputs from these arrays, an array from what it gives.
  /// Not set: as they are.
  std::function<std::vector<Tensor>(const std::vector<Tensor>&)> prepare = {};
  std::function<Tensor(const Tensor&)> finish = {};
  std::vector<std::size_t> constants = {};  ///< inputs in which the op is not differentiated
};

}  // namespace lodestone::engine
