// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"
#include "physics/mt/conventions.hpp"
#include "physics/mt/holdings.hpp"
#include "physics/mt/station_data.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace lodestone::io::jones {

/// The number whose standard error stands in the error column of impedances and tippers, which files do not
/// state.
enum class ErrorOf {
  each_part,        ///< the real and the imaginary part, as in .ERR blocks of EDI files
  complex_element,  ///< the complex number: σ of each part is error/√2
};
constexpr auto words(ErrorOf) {
  using enum ErrorOf;
  return core::Words<ErrorOf>{{each_part, "each_part"}, {complex_element, "complex_element"}};
}
/// The choices of the reader.
struct Options {
  ErrorOf error = ErrorOf::each_part;
  physics::mt::TimeFactor sign = physics::mt::TimeFactor::vote;
  physics::mt::ImpedanceUnits units = physics::mt::ImpedanceUnits::vote;
};

/// Reads one station from a J-format file (A. G. Jones; the .j files of BIRRP as well) in SI ohm and
/// e^{+iωt}. Rows stand in the frame of `>AZIMUTH`, as their azimuths state.
///
/// Impedances and tippers: period in s (below 0: frequency in Hz), real and imaginary part, standard error;
/// further columns are not used. Without impedances, those of apparent resistivity and phase are taken, with
/// σ_|Z|/|Z| from half of the larger of ln(ρ_max/ρ_min)/2 and of the range of phases. -999 is missing, ρₐ
/// below 0 rejected. Tags of units and sign are not trusted: `FIELD` and a comment with `exp(…)` are taken as
/// stated, else the data vote. errors: FileError, FormatError with file:line (another format, no block with
/// values, a number that is none, file cut off).
[[nodiscard]] physics::mt::StationData read(const std::string& path, const Options& options = {});

/// Reads a station from bytes in memory; `path` is only used in messages.
[[nodiscard]] physics::mt::StationData parse(const std::string& bytes, const std::string& path,
                                             const Options& options = {});

/// Returns whether the bytes start such a file.
[[nodiscard]] bool is_j_file(std::string_view bytes);

/// Returns the text of a J-format file with this station in mV/km/nT and e^{+iωt}, which it states, and in
/// words what it does not hold. Errors are those of each part. Reading it gives the same bits
/// of values, errors, frequencies, azimuth and place. Numbers of ohm that never were in mV/km/nT may lack the
/// last one. errors: InvalidArgument for a station without impedance and tipper.
[[nodiscard]] physics::mt::Written text_of(const physics::mt::StationData& station);

}  // namespace lodestone::io::jones
