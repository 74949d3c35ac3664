// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mesh/earth.hpp"

#include <string>

namespace lodestone::io::model {

/// A section from a model file of any kind we read (HDF5 result, ModEM 2-D, TOML), told apart by content, not
/// by name. errors: FileError; FormatError or ConfigError of the format found, also for resistivities outside
/// `physics::mt::is_in_resistivity_range`; FormatError when it is none of them.
[[nodiscard]] physics::mesh::Model read_model(const std::string& path);

}  // namespace lodestone::io::model
