// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/study/options.hpp"
#include "models/vae/trained_vae.hpp"

#include <filesystem>

namespace lodestone::mt_invert::study {

/// The network of `--network`; or the one that data/benchmarks/vae_synthetic_prior.toml trains, which is kept
/// in `folder` under a name that changes with everything the training depends on. On one rank. errors: those
/// of the files, of the configuration and of the training.
[[nodiscard]] models::vae::TrainedVae synthetic_network(const SyntheticOptions& options,
                                                        const std::filesystem::path& folder);

}  // namespace lodestone::mt_invert::study
