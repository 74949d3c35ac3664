// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/config/config.hpp"
#include "apps/mt_invert/config/rows.hpp"

namespace lodestone::mt_invert::config {

[[nodiscard]] DataConfig read_data_config(ConfigTable table);

}  // namespace lodestone::mt_invert::config
