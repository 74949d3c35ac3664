// SPDX-License-Identifier: Apache-2.0
// Small on purpose: a public header; users include it by this path.
// Functions with derivatives written by hand.
#pragma once

#include "engine/record/trace.hpp"

#include <string>

namespace lodestone::engine {

/// Derivatives of y = f(x) by hand, of engine ops. Tangents and cotangents are all there, zeros where there
/// is none.
struct CustomRules {
  std::string name;  ///< for messages
  /// dy at x, y for tangents dx. shapes: those of y. Empty: asking for it is an error.
  std::function<Tensors(const Tensors& x, const Tensors& y, const Tensors& dx)> jvp = {};
  /// x̄ = Jᴴ ȳ at x, y for cotangents ȳ. shapes: those of x; not valid: zero. Empty: asking for it is an
  /// error.
  std::function<Tensors(const Tensors& x, const Tensors& y, const Tensors& cotangents)> vjp = {};
};

/// Returns f, whose inside is never differentiated. The rules are recorded graph: they are differentiated
/// again for second derivatives, and batched. errors: InvalidArgument for a rule that is missing or gives
/// other shapes; also when the derivative is taken of a tensor that f captured rather than was given. f must
/// not look at values.
[[nodiscard]] Function custom(Function f, CustomRules rules,
                              std::source_location where = std::source_location::current());

}  // namespace lodestone::engine
