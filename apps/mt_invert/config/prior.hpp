// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/config/table.hpp"
#include "inversion/mt/recipe.hpp"
#include "inversion/prior/regions.hpp"
#include "inversion/prior/roughness.hpp"
#include "inversion/prior/roughness_norm.hpp"
#include "io/model/network.hpp"
#include "physics/mesh/shapes.hpp"

#include <optional>
#include <string>
#include <vector>

namespace lodestone::mt_invert::config {

/// The operator that makes a model smooth: derivatives in physical distance, or the smoothing of a covariance
/// file.
enum class SmoothingOperator { derivatives, autoregression };
constexpr auto words(SmoothingOperator) {
  using enum SmoothingOperator;
  return core::Words<SmoothingOperator>{{derivatives, "derivatives"}, {autoregression, "autoregression"}};
}

/// Table [regularization].
struct RegularizationConfig {
  SmoothingOperator smoothing = SmoothingOperator::derivatives;
  inversion::prior::RoughnessOptions roughness;  ///< including the tears; numbers of files come later
  /// Choices that are left open follow from the dimension (`roughness_of`).
  std::optional<double> horizontal_weight{}, depth_weight_exponent{}, horizontal_depth_exponent{},
      edges_reach{};
  inversion::prior::RoughnessNormOptions norm;
  std::vector<inversion::mt::TearLine> tears;
  std::vector<inversion::mt::FixedRegion> fixed;
  std::string covariance_file{};   ///< a covariance file of ModEM; "": none
  std::string covariance_place{};  ///< for messages
};

/// Table [static_shift] or [distortion], whichever is enabled.
using DistortionConfig = inversion::mt::DistortionOptions;

using RegionDecoder = io::model::DecoderKind;

/// An entry of [[learned_prior.region]]: the options of the library with the file of their decoder, which is
/// read later.
struct LearnedRegionConfig {
  inversion::prior::RegionOptions options;  ///< without a decoder
  std::string network,
      network_as_written;  ///< the file as the program opens it, and as the configuration has it
  RegionDecoder decoder = RegionDecoder::network;
};

/// Table [learned_prior].
struct LearnedPriorConfig {
  inversion::prior::LearnedPriorOptions options;  ///< without regions
  std::vector<LearnedRegionConfig> regions;
};

// Each reads its table. errors: ConfigError with file:line.

[[nodiscard]] RegularizationConfig read_regularization(ConfigTable table);
/// Reads the two tables; no state where neither is enabled. errors: also where both are.
[[nodiscard]] DistortionConfig read_distortion(ConfigTable static_shift, ConfigTable distortion);
/// Returns nothing without a region.
[[nodiscard]] std::optional<LearnedPriorConfig> read_learned_prior(ConfigTable table);

}  // namespace lodestone::mt_invert::config
