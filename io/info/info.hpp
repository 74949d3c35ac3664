// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/error.hpp"

#include <limits>
#include <string>
#include <vector>

namespace lodestone::io::info {

inline constexpr double not_stated = std::numeric_limits<double>::quiet_NaN();

/// The contents of one site of a data file. NaN: not stated in the file.
struct SiteInfo {
  std::string name;
  double latitude_deg = not_stated, longitude_deg = not_stated, elevation_m = not_stated;
  int n_periods = 0;
  double period_min_s = not_stated, period_max_s = not_stated;
  std::vector<std::string>
      components;           ///< "zxx" "zxy" … "tx" "ty"; "rho_yx" "phase_yx" where only these are given
  int n_masked = 0;         ///< periods at which one of these components is missing
  int n_marked = 0;         ///< values that a survey file marks as masked
  std::string sign, units;  ///< as in the file: "+" or "-"; "mV/km/nT", "V/m/T", "ohm"
  double frame_deg = not_stated;  ///< azimuth of x in the file, clockwise from geographic north; NaN: varies
                                  ///< with frequency, or profile data
};

/// The format and the contents of a file.
struct FileInfo {
  std::string path;
  std::string format;  ///< "EDI"; "ModEM 2-D data"; "ModEM 2-D model"; "ModEM 3-D data"; "ModEM 3-D model";
                       ///< "ModEM covariance"; "MARE2DEM data"; "MT2DData"; "TOML model"; "TOML inversion";
                       ///< "TOML prior"; "TOML"; "card of a network"; "HDF5 result"; "HDF5 samples" …;
                       ///< "safetensors"; "CSV sites"; "CSV responses"; "CSV section"; "CSV table"; "unknown"
  std::string status;  ///< "ok", or the error text
  core::ExitCode code = core::ExitCode::ok;  ///< exit-code class of the status
  std::vector<std::string> warnings;
  std::vector<std::string> facts;  ///< one-line statements for people: "100 × 31 cells", …
  std::vector<SiteInfo> sites;
};

/// Classifies a file by content and reads it; never throws because of the file's content. A folder is an
/// error whose text states if it holds EDI files.
[[nodiscard]] FileInfo describe_file(const std::string& path);

/// Returns the descriptions as JSON: an array with one object per file; null: not stated in the file.
[[nodiscard]] std::string info_json(const std::vector<FileInfo>& files);
/// Returns the descriptions as a text for people.
[[nodiscard]] std::string info_text(const std::vector<FileInfo>& files);

}  // namespace lodestone::io::info
