// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/error.hpp"

#include <limits>
#include <string>
#include <vector>

namespace lodestone::io::info {

inline constexpr double not_stated = std::numeric_limits<double>::quiet_NaN();

/// What one site of a data file offers. NaN = the file does not say.
struct SiteInfo {
  std::string name;
  double latitude_deg = not_stated, longitude_deg = not_stated, elevation_m = not_stated;
  int n_periods = 0;
  double period_min_s = not_stated, period_max_s = not_stated;
  std::vector<std::string>
      components;           ///< "zxx" "zxy" … "tx" "ty"; "rho_yx" "phase_yx" where only these are given
  int n_masked = 0;         ///< periods at which one of these components is missing
  std::string sign, units;  ///< as in the file: "+" or "-"; "mV/km/nT", "V/m/T", "ohm"
  double frame_deg = not_stated;  ///< azimuth of x in the file, clockwise from geographic north; NaN: varies
                                  ///< with frequency, or profile data
};

/// What a file is, and what is in it.
struct FileInfo {
  std::string path;
  std::string format;  ///< "EDI", "ModEM 2-D data", "ModEM 2-D model", "ModEM 3-D data", "ModEM 3-D model",
                       ///< "MARE2DEM data", "MT2DData", "TOML model", "TOML inversion", "TOML prior", "TOML",
                       ///< "card of a network", "HDF5 result", "HDF5 samples" …, "safetensors", "CSV sites",
                       ///< "CSV responses", "CSV section", "CSV table", "unknown"
  std::string status;                        ///< "ok", or the error text
  core::ExitCode code = core::ExitCode::ok;  ///< exit-code class of the status
  std::vector<std::string> warnings;
  std::vector<std::string> facts;  ///< one-line statements for people: "100 × 31 cells", …
  std::vector<SiteInfo> sites;
};

/// Classifies a file by content and reads it; never throws because of what the file holds. A folder is an
/// error that says whether EDI files lie in it.
[[nodiscard]] FileInfo describe_file(const std::string& path);

}  // namespace lodestone::io::info
