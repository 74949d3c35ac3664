// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/config/table.hpp"
#include "engine/core/words.hpp"
#include "inversion/mt/soundings.hpp"
#include "inversion/unknowns.hpp"
#include "physics/mesh/surface.hpp"
#include "physics/mt/grid_design.hpp"
#include "physics/mt/ground.hpp"
#include "physics/mt/profile.hpp"
#include "physics/mt/sounding.hpp"

#include <optional>
#include <string>

namespace lodestone::mt_invert::config {

using physics::mt::Elevation;

/// Table [profile]. Its surface is a path here and a line in the options of the library.
struct ProfileConfig {
  ConfigTable table{{}, {}};  ///< the table itself, for messages
  physics::mt::ProfileOptions line{};
  Elevation elevation = physics::mt::GroundOptions{}.elevation;
  std::string surface_file{};
  bool drape = false;  ///< stations whose depth is not that of the surface are moved onto it
};

/// Table [grid]: the parameter cells.
struct GridConfig {
  physics::mt::GridOptions options;
  bool from_model = false;  ///< the cells of the start model
};

/// Tables [start] and [reference]: a half-space, a model file, or the layered earths under the stations side
/// by side. A model is a path here; the options of the library hold the model itself.
struct ModelConfig {
  double resistivity_ohm_m = 100.0;
  std::string file, file_as_written;  ///< as the program opens it, and as the configuration has it
  std::string file_place;             ///< "file:line: key" that names it, for messages
  bool from_soundings = false;
  bool is_open = true;  ///< no key of the table says anything
};

/// Table [soundings]: the 1-D inversions of single stations.
using SoundingsConfig = inversion::mt::SoundingOptions;

// Each reads its table. errors: ConfigError with file:line.

/// `source_key`: the key of [data] whose file places its stations on a profile; empty for EDI data.
[[nodiscard]] ProfileConfig read_profile(ConfigTable table, const std::string& source_key);
[[nodiscard]] GridConfig read_grid(ConfigTable table);
/// `usual`: the model that stands for a table without keys.
[[nodiscard]] ModelConfig read_model(ConfigTable table, const ModelConfig& usual);
/// Returns nothing without the table.
[[nodiscard]] std::optional<physics::mesh::Sea> read_sea(ConfigTable table);
[[nodiscard]] SoundingsConfig read_soundings(ConfigTable table);
/// Returns the bounds in log10 of ohm m; nothing without the table.
[[nodiscard]] std::optional<inversion::Bounds> read_bounds(ConfigTable table);

}  // namespace lodestone::mt_invert::config
