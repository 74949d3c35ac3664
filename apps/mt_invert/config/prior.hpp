// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/config/rows.hpp"
#include "inversion/prior/regions.hpp"
#include "io/model/network.hpp"

#include <optional>
#include <string>
#include <vector>

namespace lodestone::mt_invert::config {

using RegionDecoder = io::model::DecoderKind;
using inversion::prior::Polish;

/// An interval along an axis.
struct Extent {
  double from_m = 0.0, to_m = 0.0;
};

/// An entry of [[learned_prior.region]].
struct LearnedRegionConfig {
  std::string name;
  std::string network,
      network_as_written;  ///< the file as the program opens it, and as the configuration has it
  RegionDecoder decoder = RegionDecoder::network;
  Extent y;                      ///< columns whose centres lie inside
  std::optional<Extent> z;       ///< rows whose centres lie inside, below the surface; absent: the network's
  int overlap = 0;               ///< columns that neighbouring patches share
  std::optional<int> n_codes{};  ///< that the network must have; absent: any number
  std::string place;             ///< where it stands, for messages once the grid is known
};

/// Table [learned_prior].
struct LearnedPriorConfig {
  inversion::prior::CodedRoughnessOptions weights{};
  double encode_sigma_decades = inversion::prior::EncodeOptions{}.sigma_decades;
  Polish polish = Polish::when_needed;
  std::vector<LearnedRegionConfig> regions;
};

/// Nothing where the table is not given.
[[nodiscard]] std::optional<LearnedPriorConfig> read_learned_prior(ConfigTable table);

}  // namespace lodestone::mt_invert::config
