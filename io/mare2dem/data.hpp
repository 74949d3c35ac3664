// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/profile/profile_data.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace lodestone::io::mare2dem {

/// The MT part of a MARE2DEM data or response file.
struct EmData : profile::ProfileData {
  std::string version;           ///< "EMData_2.2", "EMResp_2.2"
  std::string phase_convention;  ///< "lag" or "lead"; of CSEM data only
  std::string origin;            ///< the line on UTM zone, origin and strike as it stands in the file
  Eigen::VectorXd response;      ///< (keys) of a response file, in the units of the data; NaN where there is
                                 ///< none; empty for data files
};

/// Reads EMData (and EMResp) files of versions 2.0 to 2.3: x strike, y along the profile, z downwards, all in
/// m.
///
/// Types 103–106 (ρₐ and phase), 113–116 (parts of Z, ohm), 123 and 125 (log10 ρₐ), 133, 134 (parts of Hz/Hy)
/// and 135, 136 (its amplitude and phase) are read. ρₐ becomes log10 ρₐ with σ/(ρₐ ln 10), amplitude and
/// phase of one station and frequency become the parts of Hz/Hy with propagated errors. Stations with a tilt
/// (Beta) lie along the slope. TM phases stand in the first quadrant in files and get −180° here; Z stands as
/// it is. MT data are e^{+iωt} whatever the header's phase convention. Rows of other types, rows whose
/// magnetic field is another station's and amplitudes without phase (or phases without amplitude) are left
/// out, each kind with one warning that counts them. errors: FileError, FormatError with file:line (no such
/// file, row with too few columns, number out of range, no MT datum). source: mare2dem.bitbucket.io, "data
/// file format".
[[nodiscard]] EmData read_emdata(const std::string& path);

/// The word after "Format:" when the bytes start such a file.
[[nodiscard]] std::optional<std::string> emdata_version(std::string_view bytes);

}  // namespace lodestone::io::mare2dem
