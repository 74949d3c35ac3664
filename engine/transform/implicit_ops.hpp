// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: what the rows of the implicit ops are made of.
// Symbols: h a handle of the solutions for parameters m [items…, their shape], A = F_u at each of them; n
// unknowns; B, X [items…, k…, n].
#pragma once

#include "engine/record/rule_args.hpp"
#include "engine/transform/implicit.hpp"

namespace lodestone::engine {

/// Which matrix is solved with.
enum class Side : std::uint8_t { itself, adjoint };
constexpr auto words(Side) {
  using enum Side;
  return core::Words<Side>{{itself, "itself"}, {adjoint, "adjoint"}};
}

struct ImplicitAttrs {
  std::shared_ptr<const ImplicitProblem> problem;
  int n_item_axes = 0;  ///< axes in front of all inputs
  Side side = Side::itself;
  static auto fields() {
    return std::tuple{Field{"problem", &ImplicitAttrs::problem},
                      Field{"n_item_axes", &ImplicitAttrs::n_item_axes, axes_in_front},
                      Field{"side", &ImplicitAttrs::side}};
  }
};

/// Returns the first axes of a shape, those of items, and both shapes one behind the other.
[[nodiscard]] Shape items_shape(const Shape& shape, int n_axes);
[[nodiscard]] Shape joined(const Shape& items, const Shape& shape);

// Values: h of m…; u of h; X of h, u, m… and B.
[[nodiscard]] Tensor run_implicit_solve(const RuleArgs& args);
[[nodiscard]] Tensor run_implicit_value(const RuleArgs& args);
[[nodiscard]] Tensor run_implicit_apply(const RuleArgs& args);

// Derivatives of u and of X.
[[nodiscard]] Tensor implicit_value_jvp(const RuleArgs& args, std::span<const Tensor> tangents);
[[nodiscard]] Tensors implicit_value_pull_back(const RuleArgs& args, const Tensor& cotangent,
                                               const std::vector<bool>& wanted);
[[nodiscard]] Tensor implicit_apply_jvp(const RuleArgs& args, std::span<const Tensor> tangents);
[[nodiscard]] Tensors implicit_apply_pull_back(const RuleArgs& args, const Tensor& cotangent,
                                               const std::vector<bool>& wanted);

// (C + diag p) u + u² / 10 = q with a random matrix C, by Newton's method, at which the rows are checked.
[[nodiscard]] Sample sample_implicit_solve(Sampler& sampler);
[[nodiscard]] Sample sample_implicit_value(Sampler& sampler);
[[nodiscard]] Sample sample_implicit_apply(Sampler& sampler);

}  // namespace lodestone::engine
