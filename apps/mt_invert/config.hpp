// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/gauss_newton.hpp"
#include "inversion/regularization.hpp"
#include "io/edi/edi_reader.hpp"
#include "physics/mesh/tensor_grid.hpp"
#include "physics/mt/mesh_design.hpp"
#include "physics/mt/profile.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lodestone::mt_invert {

/// Table [data]: where the observations come from and which of them are used.
struct DataConfig {
  std::vector<std::string> edi_files;
  std::string edi_folder, modem_file, mare2dem_file, mt2d_file;  ///< one of the five is given
  /// Name of the key whose file brings its stations' places along the profile, and that file; both empty for EDI files.
  [[nodiscard]] std::pair<std::string, std::string> profile_source() const;
  io::EdiFolderOptions edi;
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

/// Tables [start] and [reference]: a half-space or a model file.
struct ModelConfig {
  double resistivity_ohm_m = 100.0;
  std::string file;
};

struct BoundsConfig {
  double lower_log10 = 0.0, upper_log10 = 0.0;
};

enum class Redesigning { each_iteration, never };
enum class CertificateOf { none, iteration, final_meshes, both };

/// Table [forward].
struct ForwardConfig {
  physics::mt::Accuracy iteration = physics::mt::Accuracy::iteration, final_accuracy = physics::mt::Accuracy::standard;
  Redesigning redesign = Redesigning::each_iteration;
  CertificateOf certificate = CertificateOf::both;
};

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
  std::optional<BoundsConfig> bounds;
  inversion::RoughnessOptions roughness;
  inversion::GaussNewtonOptions optimiser;
  ForwardConfig forward;
  OutputConfig output;
  std::string toml;  ///< every key with the value in force
};

/// Reads the file and the `key=value` assignments. errors: FileError, ConfigError with file:line (syntax, unknown or contradictory keys, wrong types).
[[nodiscard]] Config read_config(const std::string& path, const std::vector<std::string>& assignments = {});

}  // namespace lodestone::mt_invert
