// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/config/rows.hpp"
#include "inversion/assessment.hpp"

#include <optional>

namespace lodestone::mt_invert::config {

/// Table [uncertainty].
using UncertaintyConfig = inversion::AssessmentOptions;

/// Nothing where neither is asked for. errors: ConfigError.
[[nodiscard]] std::optional<UncertaintyConfig> read_uncertainty(ConfigTable table);

}  // namespace lodestone::mt_invert::config
