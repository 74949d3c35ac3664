// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"
#include "physics/mt/conventions.hpp"
#include "physics/mt/holdings.hpp"
#include "physics/mt/station_data.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace lodestone::io::zfile {

/// The north from which the azimuths of channels count. as_stated: from magnetic north where the line above
/// the channels says "relative to declination" or "magnetic", from geographic north elsewhere. ignore: from
/// geographic north. add: from magnetic north, so that the declination is added.
enum class ZDeclination { as_stated, ignore, add };
constexpr auto words(ZDeclination) {
  using enum ZDeclination;
  return core::Words<ZDeclination>{{as_stated, "as_stated"}, {ignore, "ignore"}, {add, "add"}};
}
/// The choices of the reader.
struct Options {
  ZDeclination declination = ZDeclination::as_stated;
  /// Z-files state e^{+iωt} and mV/km/nT; vote: as stated, with a remark where the data contradict.
  physics::mt::TimeFactor sign = physics::mt::TimeFactor::vote;
  physics::mt::ImpedanceUnits units = physics::mt::ImpedanceUnits::vote;
};

/// Reads the station of an EMTF Z-file (.zmm, .zrr, .zss) in SI ohm and e^{+iωt}. Rows have the azimuths of
/// their channels, and the signal and noise of the file in ohm, from which errors and covariance follow.
///
/// The first station whose H_x and H_y are the inputs is read from a file of several; remarks name the other
/// channels. Values of 1e30 and more, -999 and not a number are missing. errors: FileError, FormatError with
/// file:line (another format, other inputs, a number that is none, file cut off). source: Egbert and Booker
/// 1986 (Geophys. J. R. Astron. Soc. 87, 173), whose programs write such files.
[[nodiscard]] physics::mt::StationData read(const std::string& path, const Options& options = {});

/// Reads a station from bytes in memory; `path` is only used in messages.
[[nodiscard]] physics::mt::StationData parse(const std::string& bytes, const std::string& path,
                                             const Options& options = {});

/// Returns whether the bytes start such a file.
[[nodiscard]] bool is_z_file(std::string_view bytes);

/// Returns the text of a Z-file with this station, and in words what it does not hold. Reading it gives the
/// same bits of values, signal, noise, errors, azimuths and coordinates; not every frequency above 1 Hz, and
/// not every number of ohm that never was in mV/km/nT, has that last bit.
///
/// A row without signal and noise gets S = diag(1, s) and the diagonal of N that come closest to its errors.
/// The errors of Zxy and Zyx are kept, and all where the two of each output have one ratio. errors:
/// InvalidArgument for a station without impedance and tipper.
[[nodiscard]] physics::mt::Written text_of(const physics::mt::StationData& station);

}  // namespace lodestone::io::zfile
