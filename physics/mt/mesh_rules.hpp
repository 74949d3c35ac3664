// SPDX-License-Identifier: Apache-2.0
// Small on purpose: rules of forward meshes that are the same in every dimension.
#pragma once

#include "engine/core/words.hpp"

#include <vector>

namespace lodestone::physics::mt {

/// Accuracies of forward meshes: a coarse set for inversion iterations, the default, and the next finer.
/// `design_options` of each dimension states what they reach.
enum class Accuracy { iteration, standard, fine };
constexpr auto words(Accuracy) {
  using enum Accuracy;
  return core::Words<Accuracy>{{iteration, "iteration"}, {standard, "standard"}, {fine, "fine"}};
}

/// Returns the frequencies that share a mesh as lists of indices, highest first. A band ends where the ratio
/// to its first frequency exceeds `ratio`.
[[nodiscard]] std::vector<std::vector<int>> frequency_bands(const std::vector<double>& frequencies_hz,
                                                            double ratio);

}  // namespace lodestone::physics::mt
