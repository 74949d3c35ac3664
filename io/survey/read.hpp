// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/error.hpp"
#include "io/edi/reader.hpp"
#include "io/jones/jones.hpp"
#include "io/occam2d/data.hpp"
#include "io/survey/kinds.hpp"
#include "io/zfile/zfile.hpp"
#include "io/zonge/zonge.hpp"
#include "physics/mt/station_data.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lodestone::io::survey {

/// The choices of `read`.
struct ReadOptions {
  edi::EdiOptions edi{};
  physics::mt::Conventions emtf{}, femtic{}, wsinv{}, mth5{};
  jones::Options jones{};
  zfile::Options zfile{};
  zonge::Options zonge{};
  occam2d::Options occam2d{};
  /// Names of stations: only these are returned, in this order. Empty: all, in the order of files and rows.
  std::vector<std::string> station_order{};
  std::optional<FileKind> kind{};  ///< kind of every file; absent: by the content of each
  /// Stations of a survey file whose values are all masked are returned as well.
  bool keeps_masked_stations = false;
};

/// Sets a time factor and units for the readers of all formats; a vote leaves a choice as it is.
void choose(ReadOptions& options, const physics::mt::Conventions& chosen);

/// Reads stations from a file of any kind that holds some, or from a folder of EDI files. Kinds: EDI, Z-file,
/// J-format, Zonge AVG, ModEM, MARE2DEM, MT2DData, Occam2D, FEMTIC, WSINV3DMT, MTH5. errors: those of the
/// readers and of `read_folder`; FormatError (no file of stations), ConfigError (a name of `station_order` is
/// not there).
[[nodiscard]] std::vector<physics::mt::StationData> read(const std::string& path,
                                                         const ReadOptions& options = {});

/// Returns the path of a file itself; of a folder those files in it that hold stations by their content, in
/// the order of their names, without its folders. errors: FileError (nothing there, a folder without such a
/// file).
[[nodiscard]] std::vector<std::string> station_files(const std::string& path);

/// Gets the path of a file that was skipped, and why.
using OnSkipped = std::function<void(const std::string& path, const core::Error& error)>;

/// Reads stations from several files as one survey. A file that cannot be read is skipped with a warning in
/// the log; equal names get a suffix. Where neither a station nor its file decides units or time factor, it
/// follows the stations of the same format in the same folder (docs/command-line.md). errors: FileError or
/// FormatError (none is readable), ConfigError.
[[nodiscard]] std::vector<physics::mt::StationData> read_files(const std::vector<std::string>& paths,
                                                               const ReadOptions& options = {},
                                                               const OnSkipped& skipped = {});

/// Reads every *.edi of a folder (any case, not recursive) as one survey. errors: FileError (no such folder,
/// no EDI file in it), those of `read_files`.
[[nodiscard]] std::vector<physics::mt::StationData> read_folder(const std::string& folder,
                                                                const ReadOptions& options = {});

}  // namespace lodestone::io::survey
