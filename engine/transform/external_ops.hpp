// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: what the rows of the external ops are made of.
// Symbols: h a handle of the linearizations at x [items…, n_in], one per item; V, W directions [items…, k…,
// n].
#pragma once

#include "engine/core/differentiable_map.hpp"
#include "engine/record/rule_args.hpp"

namespace lodestone::engine {

struct ExternalAttrs {
  core::MapPtr map;
  static auto fields() { return std::tuple{Field{"map", &ExternalAttrs::map}}; }
};

/// Returns the abstract value of the same items, each a vector of `extent` f64.
[[nodiscard]] Aval with_last(const Aval& aval, Dim extent);

// Values: F(x); h of x; F of h; J V and Jᵀ W of h and directions.
[[nodiscard]] Tensor run_external_call(const RuleArgs& args);
[[nodiscard]] Tensor run_external_linearize(const RuleArgs& args);
[[nodiscard]] Tensor run_external_value(const RuleArgs& args);
[[nodiscard]] Tensor run_external_jvp(const RuleArgs& args);
[[nodiscard]] Tensor run_external_vjp(const RuleArgs& args);

// sin(A x + b) with a random matrix A, at which the rows are checked.
[[nodiscard]] Sample sample_external_call(Sampler& sampler);
[[nodiscard]] Sample sample_external_linearize(Sampler& sampler);
[[nodiscard]] Sample sample_external_value(Sampler& sampler);
[[nodiscard]] Sample sample_external_product(Sampler& sampler, bool forward);

}  // namespace lodestone::engine
