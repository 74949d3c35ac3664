// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/config/table.hpp"
#include "engine/core/words.hpp"
#include "inversion/mt/soundings.hpp"
#include "physics/mesh/surface.hpp"
#include "physics/mt/ground.hpp"
#include "physics/mt/profile.hpp"
#include "physics/mt/sounding.hpp"

#include <optional>
#include <string>

namespace lodestone::mt_invert::config {

using physics::mt::Elevation;

/// Table [profile].
struct ProfileConfig {
  physics::mt::ProfileOptions options;
  std::string projection = "local";  ///< "local", "utm", or a definition for PROJ
  Elevation elevation = Elevation::flat_mean;
  std::string surface_file;
  bool drape = false;  ///< stations whose depth is not that of the surface are moved onto it
};

/// Table [grid]: the parameter cells. 0 = chosen from the data.
struct GridConfig {
  int n_columns = 0, n_layers = 0;
  double margin = 0.05;  ///< beyond the outermost stations, as a share of the profile's length
  double first_layer_m = 0.0, layer_factor = 1.15;
  bool from_model = false;  ///< the cells of the start model
};

/// Tables [start] and [reference]: a half-space, a model file, or the layered earths under the stations side
/// by side.
struct ModelConfig {
  double resistivity_ohm_m = 100.0;
  std::string file, file_as_written;  ///< as the program opens it, and as the configuration has it
  bool from_soundings = false;
};

/// Table [soundings]: the 1-D inversions of single stations.
using SoundingsConfig = inversion::mt::SoundingOptions;

/// Table [bounds]: the section stays between.
struct BoundsConfig {
  double lower_log10 = 0.0, upper_log10 = 0.0;
};

// Each reads its table. errors: ConfigError with file:line.

/// `source_key`: the key of [data] whose file places its stations on a profile; empty for EDI data.
[[nodiscard]] ProfileConfig read_profile(ConfigTable table, const std::string& source_key);
[[nodiscard]] GridConfig read_grid(ConfigTable table);
/// `usual`: the model that stands for a table without keys.
[[nodiscard]] ModelConfig read_model(ConfigTable table, const ModelConfig& usual);
/// Returns nothing without the table.
[[nodiscard]] std::optional<physics::mesh::Sea> read_sea(ConfigTable table);
[[nodiscard]] SoundingsConfig read_soundings(ConfigTable table);
/// Returns nothing without the table.
[[nodiscard]] std::optional<BoundsConfig> read_bounds(ConfigTable table);

}  // namespace lodestone::mt_invert::config
