// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/observations.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lodestone::io::mare2dem {

/// The MT part of a MARE2DEM data or response file.
struct EmData {
  /// Every receiver, with its data as readings and its depth and tilt. Remarks on the file stand at the
  /// first.
  std::vector<physics::mt::StationData> stations;
  /// The responses of a response file, likewise, without errors; empty: a data file.
  std::vector<physics::mt::StationData> responses;
  std::string version;           ///< "EMData_2.2", "EMResp_2.2"
  std::string phase_convention;  ///< "lag" or "lead"; of CSEM data only
  std::string origin;            ///< the line on UTM zone, origin and strike as it stands in the file
};

/// Reads EMData (and EMResp) files of versions 2.0 to 2.3: x strike, y along the profile, z downwards, all in
/// m.
///
/// Reads these types: 103–106 (ρₐ and phase); 113–116 (parts of Z, ohm); 123 and 125 (log10 ρₐ); 133 and 134
/// (parts of Hz/Hy); 135 and 136 (its amplitude and phase). ρₐ becomes log10 ρₐ with σ/(ρₐ ln 10), amplitude
/// and phase of one station and frequency become the parts of Hz/Hy with propagated errors. Stations with a
/// tilt (Beta) lie along the slope. TM phases stand in the first quadrant in files and get −180° here; Z
/// stands as it is. MT data are e^{+iωt} whatever the header's phase convention. Left out are rows of other
/// types, rows whose magnetic field is another station's, and amplitudes without phase (or phases without
/// amplitude). One remark for each kind counts them. errors: FileError, FormatError with file:line (no such
/// file, row with too few columns, number out of range, no MT datum). source: mare2dem.bitbucket.io, "data
/// file format".
[[nodiscard]] EmData read_data(const std::string& path);

/// Returns the kinds of data that such files hold.
[[nodiscard]] std::vector<physics::mt::Datum> data_held();

/// Returns the text of an EMData_2.2 file with the kept data: receivers at y, z and with the tilt of the
/// stations, log10 ρₐ, phases, and parts of impedances and tippers. `title`: one line. A depth that is not
/// known is written as 0. What was read from a file is read back bit for bit. errors: InvalidArgument when no
/// datum is kept, or one has no type here or no error above 0.
[[nodiscard]] std::string text_of(const physics::mt::Observations& data, const std::string& title);

/// Returns the word after "Format:" when the bytes start such a file.
[[nodiscard]] std::optional<std::string> emdata_version(std::string_view bytes);

}  // namespace lodestone::io::mare2dem
