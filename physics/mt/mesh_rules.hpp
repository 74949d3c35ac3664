// SPDX-License-Identifier: Apache-2.0
// Small on purpose: rules of forward meshes that are the same in every dimension.
#pragma once

#include "engine/core/words.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
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

/// Returns the meshes of some frequencies alone, which are then numbered in the order of the list.
/// `frequencies`: indices of the survey of `all`, a set of either dimension. Bands without any of them are
/// left out.
template <class MeshSet>
[[nodiscard]] MeshSet meshes_at(const MeshSet& all, const std::vector<int>& frequencies) {
  MeshSet some = all;
  some.bands.clear();
  for (const auto& band : all.bands) {
    std::vector<int> places;
    for (std::size_t k = 0; k < frequencies.size(); ++k) {
      if (std::ranges::find(band.frequencies, frequencies[k]) != band.frequencies.end())
        places.push_back(static_cast<int>(k));
    }
    if (places.empty()) continue;
    some.bands.push_back(band);
    some.bands.back().frequencies = std::move(places);
  }
  return some;
}

}  // namespace lodestone::physics::mt
