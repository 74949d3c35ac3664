// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/config/method.hpp"
#include "apps/mt_invert/config/prior.hpp"
#include "apps/mt_invert/config/uncertainty.hpp"
#include "inversion/mt/forward.hpp"
#include "inversion/prior/roughness.hpp"
#include "inversion/prior/roughness_norm.hpp"
#include "io/edi/reader.hpp"
#include "physics/mesh/polygon.hpp"
#include "physics/mesh/tensor_grid.hpp"
#include "physics/mt/d2/mesh_design.hpp"
#include "physics/mt/profile.hpp"
#include "physics/mt/sounding.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lodestone::mt_invert::config {

/// Table [data]: where the observations come from and which of them are used.
struct DataConfig {
  std::vector<std::string> edi_files;
  std::string edi_folder, modem_file, mare2dem_file, mt2d_file;  ///< one of the five is given
  /// Name of the key whose file brings its stations' places along the profile, and that file; both empty for
  /// EDI files.
  [[nodiscard]] std::pair<std::string, std::string> profile_source() const;
  io::edi::EdiFolderOptions edi;
  double period_min_s = 0.0, period_max_s = 1e300;
  physics::mt::DataSelection selection;
};

enum class Elevation { flat_mean, stations, file };

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
struct SoundingsConfig {
  physics::mt::SoundingMode mode = physics::mt::SoundingMode::average;
  double target_rms = 1.0;
  int max_iterations = 20;
};

struct BoundsConfig {
  double lower_log10 = 0.0, upper_log10 = 0.0;
};

/// An entry of [[regularization.tear]]; `place` is where it stands, for messages once the grid is known.
struct TearConfig {
  physics::mesh::Tear tear;
  std::string place;
};

/// An entry of [[regularization.fixed]]: cells whose centres lie inside are no unknowns.
struct FixedRegionConfig {
  physics::mesh::Polygon2D polygon;
  std::optional<double> resistivity_ohm_m;  ///< absent: of the reference model
  std::string place;
};

/// Table [regularization].
struct RegularizationConfig {
  inversion::prior::RoughnessOptions roughness;  ///< with the tears
  inversion::prior::RoughnessNormOptions norm;
  std::vector<TearConfig> tears;
  std::vector<FixedRegionConfig> fixed;
};

/// Table [static_shift], when enabled.
using StaticShiftConfig = inversion::mt::StaticShiftOptions;

/// Table [forward].
using ForwardConfig = inversion::mt::ForwardOptions;
using inversion::Redesigning;
using inversion::mt::CertificateOf;

struct OutputConfig {
  bool vtk = true, report = true, checkpoint = true;
};

/// A whole checked configuration of `mt_invert invert`.
struct Config {
  std::string title;
  DataConfig data;
  ProfileConfig profile;
  GridConfig grid;
  ModelConfig start, reference;
  std::optional<physics::mesh::Sea> sea;
  std::string sea_place;  ///< where its level stands, for messages once the surface is known
  SoundingsConfig soundings;
  std::optional<BoundsConfig> bounds;
  RegularizationConfig regularization;
  std::optional<LearnedPriorConfig> learned_prior;
  std::optional<StaticShiftConfig> static_shift;
  double huber_threshold = 0.0;  ///< table [misfit]; in errors of the data, 0: least squares
  InversionConfig inversion;
  std::optional<UncertaintyConfig> uncertainty;
  ForwardConfig forward;
  OutputConfig output;
  std::string toml;  ///< every key with the value in force
};

/// Reads the file and the `key=value` assignments. errors: FileError, ConfigError with file:line (syntax,
/// unknown or contradictory keys, wrong types).
[[nodiscard]] Config read_config(const std::string& path, const std::vector<std::string>& assignments = {});

}  // namespace lodestone::mt_invert::config
