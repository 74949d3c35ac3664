// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"

#include <string>

namespace lodestone::models::study {

/// The unknowns of an inversion.
enum class Method {
  pixel,     ///< all cells
  gaussian,  ///< codes of the normal distribution of the draws the network was trained on, cells outside
  feature,   ///< codes of the network, cells outside
};
constexpr auto words(Method) {
  using enum Method;
  return core::Words<Method>{{pixel, "pixel"}, {gaussian, "Gaussian"}, {feature, "feature"}};
}

/// The start model of a run. The reference is the half-space in all of them.
enum class Start {
  half_space,
  decoded,    ///< the network's model nearest to the half-space
  soundings,  ///< layered earths under the stations that fit to 10 %, interpolated along the profile
};
constexpr auto words(Start) {
  using enum Start;
  return core::Words<Start>{{half_space, "half-space"}, {decoded, "decoded"}, {soundings, "soundings"}};
}

inline constexpr double usual_between_epsilon = 0.05;

/// The weights of one method. λ is not among them: in every method it is Occam's.
struct MethodWeights {
  double horizontal = 0.1;  ///< w_h of the roughness, beside a vertical weight of 1
  double depth_exponent = 1.0,
         horizontal_depth_exponent = 0.0;  ///< weights grow with depth, z0 = 50 m (`RoughnessOptions`)
  // Unused without codes (`CodedRoughnessOptions`):
  double code = 0.1;     ///< weight of the codes' prior
  double between = 1.0;  ///< weight of the roughness between subdomains
  double between_epsilon =
      0.0;  ///< jumps beyond it, in decades, count by their height, not its square; 0: all by the square
};

/// The rules that all methods share. The rule for weights, λ and start: docs/theory/learned_prior.md.
struct Settings {
  MethodWeights pixel{}, gaussian{.code = 1.0, .between = 0.2},
      feature{.between_epsilon = usual_between_epsilon};
  double half_space_log10 = 2.0;  ///< start and reference, log10 of ohm m
  double mesh_coarsen = 0.6;      ///< `coarsen` of the meshes of accuracy `iteration`
  double near_rms = 1.5;          ///< rms of a model whose meshes are the last
  int max_iterations = 20, max_polish_iterations = 10;
  [[nodiscard]] const MethodWeights& weights_of(Method method) const;
};

/// Changes the weight that a variant names ("code x10", "between /10") in all methods, or the norm of jumps
/// between subdomains ("other norm"). errors: InvalidArgument for a variant there is not.
[[nodiscard]] Settings with_variant(Settings settings, const std::string& variant);

}  // namespace lodestone::models::study
