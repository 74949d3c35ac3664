// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"
#include "physics/mt/station_data.hpp"

#include <string>

namespace lodestone::io::edi {

/// The meaning of a .VAR block, which files do not state.
enum class EdiVariance {
  of_complex_element,  ///< variance of the complex number: σ of each part is √(VAR/2)
  of_each_part,        ///< variance of the real and of the imaginary part: σ = √VAR
};
constexpr auto words(EdiVariance) {
  using enum EdiVariance;
  return core::Words<EdiVariance>{{of_complex_element, "of_complex_element"}, {of_each_part, "of_each_part"}};
}
enum class EdiSign { vote, plus, minus };  ///< e^{±iωt}; vote: by the quadrants of Zxy and Zyx
constexpr auto words(EdiSign) {
  using enum EdiSign;
  return core::Words<EdiSign>{{vote, "vote"}, {plus, "plus"}, {minus, "minus"}};
}
enum class EdiUnits { vote, field, ohm };  ///< mV/km/nT or V/A; vote: by the size of ρₐ
constexpr auto words(EdiUnits) {
  using enum EdiUnits;
  return core::Words<EdiUnits>{{vote, "vote"}, {field, "field"}, {ohm, "ohm"}};
}

/// The choices of the reader.
struct EdiOptions {
  EdiVariance variance = EdiVariance::of_complex_element;
  EdiSign sign = EdiSign::vote;
  EdiUnits units = EdiUnits::vote;
};

/// Reads one station from a SEG EDI file (impedance, ρₐ/phase or spectra sections) in SI ohm and e^{+iωt}.
/// Rows stand in the frame of the file's rotation angles, as their azimuths state.
///
/// Every assumption made on the way is a remark with file:line. A tipper that is zero everywhere is none.
/// errors: FileError (missing, unreadable), FormatError with file:line (not an EDI file, truncated, no
/// frequency, no transfer function).
[[nodiscard]] physics::mt::StationData read(const std::string& path, const EdiOptions& options = {});

/// Reads a station from bytes in memory; `path` is only used in messages.
[[nodiscard]] physics::mt::StationData parse(const std::string& bytes, const std::string& path,
                                             const EdiOptions& options = {});

}  // namespace lodestone::io::edi
