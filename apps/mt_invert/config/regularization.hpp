// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/config/config.hpp"
#include "apps/mt_invert/config/rows.hpp"

namespace lodestone::mt_invert::config {

/// Table [regularization] with its lists of tears and fixed regions.
[[nodiscard]] RegularizationConfig read_regularization(ConfigTable table);

/// The norm under `key`, with its `key`_epsilon.
[[nodiscard]] inversion::prior::RoughnessNormOptions read_norm(ConfigTable& table, const std::string& key);

/// Table [static_shift]; nothing when it is not enabled.
[[nodiscard]] std::optional<StaticShiftConfig> read_static_shift(ConfigTable table);

}  // namespace lodestone::mt_invert::config
