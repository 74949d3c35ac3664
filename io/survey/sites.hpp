// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mesh/earth.hpp"
#include "physics/mt/observations.hpp"
#include "physics/mt/sites.hpp"

#include <optional>
#include <string>
#include <vector>

namespace lodestone::io::survey {

/// A row of a table of sites.
struct SiteRow {
  std::string name;
  double y_m = 0.0;
  std::optional<double> z_m{};  ///< absent: on the surface
  std::optional<double> x_m{};  ///< absent: along a profile
  std::string reference{};      ///< site to which inter-station functions refer; "": none
};

/// Reads sites from `site,y_m[,z_m]` along a profile or `site,x_m,y_m[,z_m][,reference]` on a map, with that
/// header line. errors: FileError, FormatError with file:line (header, number, repeated site, no site, a
/// reference that is no site).
[[nodiscard]] std::vector<SiteRow> read_sites_csv(const std::string& path);

/// The sites and periods at which `forward` computes responses.
struct ForwardSites {
  /// All elements that a model of this dimension predicts, at every site and period.
  physics::mt::Survey survey;
  std::vector<double> z_m;                         ///< depths of the stations, on the surface
  std::optional<physics::mt::Observations> modem;  ///< the data file the sites came from
  std::string path;
};

/// Reads sites from a ModEM or MARE2DEM data file (with its periods) or from a CSV file with `periods_s`:
/// along a profile for a section, on a map for a volume. errors: those of the readers; ConfigError when
/// periods are missing or given twice, or the sites do not suit the model; InvalidArgument when sites stand
/// beside the surface and are not draped.
[[nodiscard]] ForwardSites read_forward_sites(const std::string& path, const std::vector<double>& periods_s,
                                              const physics::mesh::Model& model,
                                              physics::mt::OffSurface off_surface);

}  // namespace lodestone::io::survey
