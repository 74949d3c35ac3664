// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"
#include "physics/mt/conventions.hpp"
#include "physics/mt/station_data.hpp"

#include <string>
#include <vector>

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
/// The choices of the reader.
struct EdiOptions {
  EdiVariance variance = EdiVariance::of_complex_element;
  physics::mt::TimeFactor sign = physics::mt::TimeFactor::vote;
  physics::mt::ImpedanceUnits units = physics::mt::ImpedanceUnits::vote;
};

/// Reads the stations of a SEG EDI file: one, or one for each of several data sections (MTSECT, SPECTRASECT
/// …), which are named by their SECTID, with a suffix where two are equal. errors: those of `read`.
[[nodiscard]] std::vector<physics::mt::StationData> read_all(const std::string& path,
                                                             const EdiOptions& options = {});
/// Reads the stations from bytes in memory; `path` is only used in messages.
[[nodiscard]] std::vector<physics::mt::StationData> parse_all(const std::string& bytes,
                                                              const std::string& path,
                                                              const EdiOptions& options = {});

/// Reads the first station of a SEG EDI file (impedance, ρₐ/phase or spectra sections) in SI ohm and
/// e^{+iωt}. Rows stand in the frame of the file's rotation angles, as their azimuths state.
///
/// Every assumption made on the way is a remark with file:line. A tipper that is zero everywhere is none.
/// errors: FileError (missing, unreadable), FormatError with file:line (not an EDI file, truncated, no
/// frequency, no transfer function).
[[nodiscard]] physics::mt::StationData read(const std::string& path, const EdiOptions& options = {});

/// Reads a station from bytes in memory; `path` is only used in messages.
[[nodiscard]] physics::mt::StationData parse(const std::string& bytes, const std::string& path,
                                             const EdiOptions& options = {});

}  // namespace lodestone::io::edi
