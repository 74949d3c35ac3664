// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace lodestone::core {

/// The options of `check_derivative` and `check_adjoint`.
struct MapCheckOptions {
  std::uint64_t seed = 1;
  double first_step = 1e-2;  ///< largest step relative to the size of x
  int n_steps = 7;           ///< each a factor 2 smaller; the order is read where rounding does not rule
  double min_order = 1.9;    ///< least Taylor order
  double linear_remainder = 1e-12;  ///< a relative remainder below this passes as well (linear maps)
  double max_adjoint_gap = 1e-10;   ///< 1e-8 where an iterative solver is inside
  int n_directions = 2;
};

struct MapCheckResult {
  bool passed = false;
  double figure = 0.0;  ///< observed Taylor order, or adjoint gap
  std::vector<double> steps, remainders;
  std::string report;  ///< a table for people
};

/// Runs the Taylor test: ‖F(x+hv) − F(x) − h J v‖ falls with order ≥ 1.9 in h, for random v. collective as
/// the map.
[[nodiscard]] MapCheckResult check_derivative(const DifferentiableMap& map, const ConstVectorRef& x,
                                              const MapCheckOptions& options = {});
/// Runs the dot-product test: |wᵀ(J v) − vᵀ(Jᵀ w)| relative to the terms' size; also compares `jacobian()`
/// with both, this rank's rows with it, and what the chain rule takes of them. collective as the map.
[[nodiscard]] MapCheckResult check_adjoint(const DifferentiableMap& map, const ConstVectorRef& x,
                                           const MapCheckOptions& options = {});

}  // namespace lodestone::core
