// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: attributes of the implicit ops, and a small problem they are checked on.
#pragma once

#include "engine/graph/op_info.hpp"
#include "engine/transform/implicit.hpp"

namespace lodestone::engine {

/// Which matrix is solved with.
enum class Side : std::uint8_t { itself, adjoint };

struct ImplicitAttrs {
  std::shared_ptr<const ImplicitProblem> problem;
  std::string name;
  int n_item_axes = 0;  ///< axes in front of all inputs
  Side side = Side::itself;
  static auto fields() { return std::tuple{Field{"problem", &ImplicitAttrs::name}, Field{"n_item_axes", &ImplicitAttrs::n_item_axes}}; }
};

// (C + diag p) u + u² / 10 = q with a random matrix C, by Newton's method.
[[nodiscard]] Sample sample_implicit_solve(Sampler& sampler);
[[nodiscard]] Sample sample_implicit_value(Sampler& sampler);
[[nodiscard]] Sample sample_implicit_apply(Sampler& sampler);

}  // namespace lodestone::engine
