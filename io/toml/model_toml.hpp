// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mesh/tensor_grid.hpp"

#include <optional>
#include <string>

namespace lodestone::io {

/// A section of horizontal layers and axis-parallel boxes (later ones win); grid lines stand exactly on every layer and box edge.
/// The format is described in docs/model-files.md. `resolution_m` of slanted edges is stronger than the file's. errors: FileError, ConfigError with file:line (unknown key, wrong shape or sign).
[[nodiscard]] physics::mesh::Section2D read_model_toml(const std::string& path, std::optional<double> resolution_m = {});

}  // namespace lodestone::io
