// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/config/uncertainty.hpp"

#include <fmt/format.h>

namespace lodestone::mt_invert::config {
namespace {

inversion::uncertainty::EnsembleOptions read_ensemble(ConfigTable& table, int n_samples) {
  inversion::uncertainty::EnsembleOptions options{.n_samples = n_samples};
  options.seed = static_cast<std::uint64_t>(table.integer("seed", static_cast<int>(options.seed), 0));
  options.max_iterations = table.integer("max_iterations", options.max_iterations, 1);
  return options;
}

}  // namespace

std::optional<UncertaintyConfig> read_uncertainty(ConfigTable table) {
  UncertaintyConfig config;
  config.posterior = table.flag("posterior", config.posterior);
  const int n_samples = table.integer("samples", 0, 0);
  if (n_samples == 1) table.refuse("samples", "expected 0 or at least 2, got 1: one sample has no spread");
  for (const char* key : {"seed", "max_iterations"}) {
    if (n_samples == 0 && table.has(key))
      table.refuse(key, "applies to samples only; set samples or remove this key");
  }
  for (const char* key : {"seen_share", "largest_prior_decades"}) {
    if (!config.posterior && table.has(key))
      table.refuse(key, "needs posterior = true; set it or remove this key");
  }
  if (config.posterior || n_samples > 0) {
    config.scale_errors = table.flag("scale_errors", config.scale_errors);
    config.widen_prior = table.flag("widen_prior", config.widen_prior);
  }
  for (const char* key : {"scale_errors", "widen_prior"}) {
    if (!config.posterior && n_samples == 0 && table.has(key))
      table.refuse(key, "applies to the posterior and to samples; ask for one of them or remove this key");
  }
  if (n_samples > 0) config.ensemble = read_ensemble(table, n_samples);
  if (!config.posterior) return config.ensemble ? std::optional(config) : std::nullopt;
  config.investigation.share = table.positive("seen_share", config.investigation.share);
  if (config.investigation.share >= 1.0)
    table.refuse("seen_share",
                 fmt::format("expected a number between 0 and 1, got {}", config.investigation.share));
  config.investigation.largest_prior =
      table.positive("largest_prior_decades", config.investigation.largest_prior);
  return config;
}

}  // namespace lodestone::mt_invert::config
