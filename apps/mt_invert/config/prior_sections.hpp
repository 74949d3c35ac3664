// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/earths/sections.hpp"

#include <string>

namespace lodestone::mt_invert::config {

/// A model file (HDF5 result, ModEM 2-D, TOML) as a section a prior is cut from. errors: those of the reader
/// and of `models::section_of`.
[[nodiscard]] models::earths::Section read_prior_section(const std::string& path);

}  // namespace lodestone::mt_invert::config
