// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/config/prior_sections.hpp"

#include "io/model/read.hpp"

#include <filesystem>

namespace lodestone::mt_invert::config {

models::earths::Section read_prior_section(const std::string& path) {
  return models::earths::section_of(io::model::read_model(path),
                                    std::filesystem::path(path).filename().string());
}

}  // namespace lodestone::mt_invert::config
