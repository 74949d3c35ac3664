// SPDX-License-Identifier: Apache-2.0
#include "engine/core/json_text.hpp"

#include <nlohmann/json.hpp>

namespace lodestone::core {

std::string json_quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace lodestone::core
