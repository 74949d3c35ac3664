// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/config/data.hpp"
#include "apps/mt_invert/config/earth.hpp"
#include "apps/mt_invert/config/method.hpp"
#include "apps/mt_invert/config/prior.hpp"

#include <optional>
#include <string>
#include <vector>

namespace lodestone::mt_invert::config {

/// Table [output].
struct OutputConfig {
  bool vtk = true, report = true, modem = false, checkpoint = true;
};

/// A whole checked configuration of `mt_invert invert`.
struct Config {
  std::string title;
  DataConfig data;
  ProfileConfig profile;
  GridConfig grid;
  ModelConfig start, reference;
  std::optional<physics::mesh::Sea> sea;
  std::string sea_place;  ///< "file:line: key" of its level, for messages once the surface is known
  SoundingsConfig soundings;
  std::optional<inversion::Bounds> bounds;
  RegularizationConfig regularization;
  std::optional<LearnedPriorConfig> learned_prior;
  DistortionConfig distortion;
  std::string distortion_place;  ///< "file:line: key" that enables matrices, for messages
  double huber_threshold = 0.0;  ///< table [misfit]; in errors of the data, 0: least squares
  InversionConfig inversion;
  std::optional<UncertaintyConfig> uncertainty;
  ForwardConfig forward;
  OutputConfig output;
  std::string toml;  ///< every key with the value in force
};

/// The commands that read a configuration.
enum class ConfigKind { inversion, training };

/// Reads a configuration file and sets the `key=value` assignments. errors: FileError; ConfigError with
/// file:line, also where the tables are those of the other command only, which it names.
[[nodiscard]] core::Options read_options(const std::string& path, const std::vector<std::string>& assignments,
                                         ConfigKind kind);

/// Reads the title of a run; without one it is the name of the file.
[[nodiscard]] std::string read_title(const ConfigTable& root, const std::string& path);

/// Reads the file and the `key=value` assignments. errors: FileError, ConfigError with file:line (syntax,
/// unknown or contradictory keys, wrong types).
[[nodiscard]] Config read_config(const std::string& path, const std::vector<std::string>& assignments = {},
                                 int dimension = 2);

/// Checks that a configuration sets nothing that layered earths under single stations lack.
/// errors: ConfigError that names the tables to remove.
void require_soundings_alone(const Config& config);

}  // namespace lodestone::mt_invert::config
