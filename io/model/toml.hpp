// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mesh/earth.hpp"

#include <string>

namespace lodestone::io::model {

/// A section of horizontal layers and axis-parallel boxes (later ones win); grid lines stand exactly on every
/// layer and box edge. The format is described in docs/model-files.md. Slanted edges are cut into `refine`
/// times more pieces than the file asks for. errors: FileError, ConfigError with file:line (unknown key,
/// wrong shape or sign).
[[nodiscard]] physics::mesh::Model read_model_toml(const std::string& path, double refine = 1.0);

}  // namespace lodestone::io::model
