// SPDX-License-Identifier: Apache-2.0
// Small on purpose: every format of files has a header of its own.
#pragma once

#include "physics/mt/conventions.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace lodestone::io::femtic {

/// Reads the stations of FEMTIC's observe file: blocks MT, APP_RES_AND_PHS, VTF, HTF and PT. Files are in ohm
/// and e^{-iωt}, unless `chosen` states another sign or unit. Places are km there, x to the north and y to
/// the east.
///
/// Impedances, tippers and inter-station functions become rows. σ of each part is the root mean square of the
/// two that the file states, of either sign. An error of 9999 switches a part off, and its element is left
/// out. ρₐ and phases of xy and yx become readings, those of xx and yy impedances. A number whose error is
/// not above 0 is excluded there. Phase tensors get a positive trace. Stations at one place are joined.
/// Network-MT and output points are left out. Remarks state all of this. errors: FileError, FormatError with
/// file:line (another block, a number that is none, file cut off, an equal number of
/// two stations, an unknown reference). source: Usui 2015 (Geophys. J. Int. 202, 828).
[[nodiscard]] std::vector<physics::mt::StationData> read_data(const std::string& path,
                                                              const physics::mt::Conventions& chosen = {});

/// Returns whether the bytes start such a file.
[[nodiscard]] bool is_observe(std::string_view bytes);

}  // namespace lodestone::io::femtic
