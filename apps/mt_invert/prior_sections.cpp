// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/prior_sections.hpp"

#include "io/model/model_file.hpp"

#include <filesystem>

namespace lodestone::mt_invert {

models::Section read_prior_section(const std::string& path) {
  return models::section_of(io::read_model(path), std::filesystem::path(path).filename().string());
}

}  // namespace lodestone::mt_invert
