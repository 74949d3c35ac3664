// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/config.hpp"
#include "apps/mt_invert/config_table.hpp"

namespace lodestone::mt_invert {

[[nodiscard]] DataConfig read_data_config(ConfigTable table);

}  // namespace lodestone::mt_invert
