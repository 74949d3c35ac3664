// SPDX-License-Identifier: Apache-2.0
// Small on purpose: every format of files has a header of its own.
#pragma once

#include "io/hdf5/file.hpp"
#include "physics/mt/conventions.hpp"

#include <string>
#include <vector>

namespace lodestone::io::mth5 {

/// Reads the transfer functions of an MTH5 file, versions 0.1.0 and 0.2.0, in ohm and e^{+iωt}: each is a
/// station. Rows stand in the frame of the station's angle to geographic north.
///
/// Sign and units are those of `chosen`, or as the file states them. Signal and noise are kept where the file
/// has both; else σ of each part is `transfer_function_error`, which is that of the complex number, over √2.
/// Values of exactly 0 fill what was not measured, and are missing. Time series are not read. errors:
/// FileError, FormatError with the file and the object in it (no transfer function, an array of another
/// shape, damage). source: Peacock et al. 2022 (Comput. Geosci. 162, 105102).
[[nodiscard]] std::vector<physics::mt::StationData> read(const std::string& path,
                                                         const physics::mt::Conventions& chosen = {});

/// Returns whether an HDF5 file is one of MTH5.
[[nodiscard]] bool is_mth5(const hdf5::Hdf5Source& source);

}  // namespace lodestone::io::mth5
