// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/conventions.hpp"
#include "physics/mt/observations.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace lodestone::io::occam2d {

/// The choices of the reader.
struct Options {
  /// Time factor of tippers, which files do not state; vote: e^{+iωt}. Phases stand in the first quadrant
  /// under either.
  physics::mt::TimeFactor sign = physics::mt::TimeFactor::vote;
};

/// Reads the data file of Occam2DMT, versions OCCAM2MTDATA_1.0 and 2.0: sites at offsets along a profile, and
/// rows of site, frequency, type, datum and error, as readings.
///
/// Types 1 and 5 are log10 ρₐ of TE (Zxy) and TM (Zyx), 2 and 6 their phases in degrees. Types 3 and 4 are
/// the parts of Hz/Hy. Types 9 and 10 are ρₐ, which becomes log10 ρₐ with σ/(ρₐ ln 10). TM phases stand in
/// the first quadrant in files and get −180° here. Left out are rows of other types. Errors that are missing
/// or negative count as none. One remark for each kind counts them, and one states what is assumed of
/// tippers. errors: FileError, FormatError with file:line (another format, a site or frequency out of range,
/// a number that is none, a second value, no datum). source: deGroot-Hedlin & Constable 1990 (Geophysics 55,
/// 1613).
[[nodiscard]] std::vector<physics::mt::StationData> read_data(const std::string& path,
                                                              const Options& options = {});

/// Returns whether the bytes start such a file.
[[nodiscard]] bool is_occam2d_data(std::string_view bytes);

/// Returns the kinds of data that such files hold.
[[nodiscard]] std::vector<physics::mt::Datum> data_held();

/// Returns the text of a data file with the kept data at the stations' places along the profile. `title`: one
/// line. What was read from a file is read back bit for bit. errors: InvalidArgument when no datum is kept,
/// or one has no type here or no error above 0.
[[nodiscard]] std::string text_of(const physics::mt::Observations& data, const std::string& title);

}  // namespace lodestone::io::occam2d
