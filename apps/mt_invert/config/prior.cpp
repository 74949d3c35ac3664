// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/config/prior.hpp"

#include "apps/mt_invert/config/regularization.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace lodestone::mt_invert::config {
namespace {

Extent read_extent(ConfigTable& table, const char* key) {
  const std::vector<double> ends = table.required_reals(key);
  if (ends.size() != 2 || !(ends[0] < ends[1]))
    table.refuse(
        key, fmt::format("expected two numbers [from, to] that increase, got [{}]", fmt::join(ends, ", ")));
  return {ends[0], ends[1]};
}

LearnedRegionConfig read_region(ConfigTable table, std::size_t number) {
  LearnedRegionConfig region;
  region.name = table.text("name", fmt::format("region {}", number));
  region.network_as_written = table.text("network");
  region.network = table.path("network");
  if (region.network_as_written.empty())
    table.refuse("network", "expected the file of a trained network, got an empty text");
  region.decoder = table.choice("decoder", {"network", "gaussian"}, "network") == "gaussian"
                       ? RegionDecoder::gaussian
                       : RegionDecoder::network;
  region.y = read_extent(table, "y_m");
  if (table.has("z_m")) region.z = read_extent(table, "z_m");
  region.overlap = table.integer("overlap", region.overlap, 0);
  if (table.has("codes")) region.n_codes = table.integer("codes", 1, 1);
  region.place = table.place("network");
  return region;
}

}  // namespace

std::optional<LearnedPriorConfig> read_learned_prior(ConfigTable table) {
  const std::vector<ConfigTable> regions = table.tables("region");
  if (regions.empty()) {
    for (const char* key : {"code_weight", "between_weight", "inside_weight", "between_norm",
                            "between_norm_epsilon", "encode_sigma_decades", "polish"}) {
      if (table.has(key))
        table.refuse(key,
                     "needs a region: add [[learned_prior.region]] with network and y_m, or remove this key");
    }
    return {};
  }
  LearnedPriorConfig config;
  config.weights.code_weight = table.positive("code_weight", config.weights.code_weight);
  config.weights.between_weight = table.not_negative("between_weight", config.weights.between_weight);
  config.weights.inside_weight = table.not_negative("inside_weight", config.weights.inside_weight);
  config.weights.between_norm = read_norm(table, "between_norm");
  config.encode_sigma_decades = table.positive("encode_sigma_decades", config.encode_sigma_decades);
  const std::string polish = table.choice("polish", {"when_needed", "always", "never"}, "when_needed");
  config.polish = polish == "always"  ? Polish::always
                  : polish == "never" ? Polish::never
                                      : Polish::when_needed;
  for (const ConfigTable& each : regions)
    config.regions.push_back(read_region(each, config.regions.size() + 1));
  return config;
}

}  // namespace lodestone::mt_invert::config
