// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/conventions.hpp"
#include "physics/mt/holdings.hpp"
#include "physics/mt/station_data.hpp"

#include <string>
#include <string_view>
#include <vector>

/// EMTF XML. source: Kelbert 2020 (Geophysics 85, F1).
namespace lodestone::io::emtf {

/// Returns true for text with the root of such a file.
[[nodiscard]] bool is_emtf_xml(std::string_view bytes);

/// Reads a station from an EMTF XML file in SI ohm and e^{+iωt}. Rows stand in the frame of its channels
/// (`sitelayout`) or of its orientation, clockwise from geographic north, as their azimuths state.
///
/// Errors come from the covariances of residuals and signal where both are there, else from the variances.
/// Every assumption is a remark with file:line. errors: FileError (missing, unreadable), FormatError with
/// file:line (no XML, cut off, no period, no transfer function).
[[nodiscard]] physics::mt::StationData read(const std::string& path,
                                            const physics::mt::Conventions& chosen = {});
/// Reads a station from bytes in memory; `path` is only used in messages.
[[nodiscard]] physics::mt::StationData parse(const std::string& bytes, const std::string& path,
                                             const physics::mt::Conventions& chosen = {});

/// Returns the station as EMTF XML in mV/km/nT and e^{+iωt}: values as they were read, in their shortest
/// form. errors: InvalidArgument for a station without a name or without rows.
[[nodiscard]] physics::mt::Written text_of(const physics::mt::StationData& station);

}  // namespace lodestone::io::emtf
