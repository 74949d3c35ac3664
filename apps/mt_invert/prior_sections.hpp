// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/vae/prior/sections.hpp"

#include <string>

namespace lodestone::mt_invert {

/// A model file (HDF5 result, ModEM 2-D, TOML) as a section a prior is cut from; depths count from its surface, which has to be level where the file's depths do
/// not. errors: those of the reader; FormatError for a model with relief whose depths count from a datum.
[[nodiscard]] models::Section read_prior_section(const std::string& path);

}  // namespace lodestone::mt_invert
