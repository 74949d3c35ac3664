// SPDX-License-Identifier: Apache-2.0
// Small on purpose: a public header, the only way from functions to maps.
// The way back: a function of tensors as a map of the contract.
#pragma once

#include "engine/core/differentiable_map.hpp"
#include "engine/record/tensor.hpp"

#include <functional>

namespace lodestone::engine {

/// The options of the map of a function.
struct FunctionMapOptions {
  std::string name;         ///< for messages
  Dim n_in = 0;             ///< unknowns
  int communicator_id = 0;  ///< communicator of the external maps inside, if any is collective
};

/// Returns the map F(x) = f(x) of f64 vectors, linearized by the engine: k directions go through f's graph as
/// one batch. So a network can be checked by `check_derivative`, composed with simulations and inverted. f is
/// called anew with every x, and must not look at values. shapes: f takes [n_in], gives [n_out], both f64.
/// errors: ShapeError, InvalidArgument for a function that gives something else.
[[nodiscard]] core::MapPtr function_map(std::function<Tensor(const Tensor&)> f, FunctionMapOptions options,
                                        std::source_location where = std::source_location::current());

}  // namespace lodestone::engine
