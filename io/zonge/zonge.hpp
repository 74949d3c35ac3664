// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"
#include "physics/mt/conventions.hpp"
#include "physics/mt/station_data.hpp"

#include <string>
#include <string_view>

namespace lodestone::io::zonge {

/// The fate of values whose skip flag is 1; those with 0 are always left out, those with 2 are good.
enum class Flagged { leave_out, keep };
constexpr auto words(Flagged) {
  using enum Flagged;
  return core::Words<Flagged>{{leave_out, "leave_out"}, {keep, "keep"}};
}
/// The choices of the reader.
struct Options {
  Flagged flagged = Flagged::leave_out;
  physics::mt::TimeFactor sign = physics::mt::TimeFactor::vote;
};

/// Reads the station of a Zonge .avg file of MTEdit (natural fields) in SI ohm and e^{+iωt}: components Zxx …
/// Zyy, Tzx and Tzy, each with its own azimuths where the file states `$Ch.Azimuth`, else in the frame of
/// `$Rx.HPR`.
///
/// Z.mag is in mV/km/nT (ARes.mag = Z.mag²/(5 f)), Z.phz in milliradian. σ of each part is the larger of |Z|
/// ARes.%err/200 and |Z| Z.perr/1000. Components over the field of a reference (Zxxr … with Rxxr …) become
/// Z = Zʳ R⁻¹, with errors as of independent numbers. errors: FileError, FormatError with file:line (another
/// format, unknown columns, a number that is none, file cut off, no values).
[[nodiscard]] physics::mt::StationData read(const std::string& path, const Options& options = {});

/// Reads a station from bytes in memory; `path` is only used in messages.
[[nodiscard]] physics::mt::StationData parse(const std::string& bytes, const std::string& path,
                                             const Options& options = {});

/// Returns whether the bytes start such a file.
[[nodiscard]] bool is_avg(std::string_view bytes);

}  // namespace lodestone::io::zonge
