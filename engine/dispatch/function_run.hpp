// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one rule that the executor and plans share.
// Inside of the engine: one op whose value no kernel computes.
#pragma once

#include "engine/record/rule_args.hpp"

namespace lodestone::engine {

/// Returns the value of an op with a function (`OpInfo::run`), evaluated, from evaluated inputs. What the
/// function records is a graph of its own. errors: those of the function; ShapeError where its value is not
/// `expected`.
[[nodiscard]] Tensor function_value(const OpInfo& op, std::span<const Tensor> inputs, const AttrsPtr& attrs,
                                    const Aval& expected, const std::source_location& where);

}  // namespace lodestone::engine
