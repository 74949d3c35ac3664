// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"
#include "physics/mt/profile.hpp"
#include "physics/mt/station_data.hpp"

#include <optional>
#include <string>
#include <vector>

namespace lodestone::io::survey {

/// The formats in which stations can be written.
enum class WriteFormat { survey, edi, emtf, zfile, jones, modem, modem2d, mare2dem, occam2d, wsinv, csv };
constexpr auto words(WriteFormat) {
  using enum WriteFormat;
  return core::Words<WriteFormat>{
      {survey, "survey"},   {edi, "edi"},     {emtf, "emtf"},       {zfile, "zfile"},
      {jones, "jones"},     {modem, "modem"}, {modem2d, "modem2d"}, {mare2dem, "mare2dem"},
      {occam2d, "occam2d"}, {wsinv, "wsinv"}, {csv, "csv"}};
}
/// Returns true for formats whose files hold one station.
[[nodiscard]] bool is_of_one_station(WriteFormat format);
/// Returns true for formats whose stations stand along a profile.
[[nodiscard]] bool is_of_profile(WriteFormat format);
/// Returns the format of a name by its ending: .h5, .edi, .xml, .zmm, .j, .dat, .csv; nothing for another.
[[nodiscard]] std::optional<WriteFormat> format_of_ending(const std::string& path);

/// Paths that were written, and in words what the format could not hold, each with the number of its
/// stations.
struct WriteResult {
  std::vector<std::string> paths, lost;
};

/// The places of stations in formats with coordinates x and y.
struct Placing {
  physics::mt::ProfileOptions line{};  ///< profile or map
  /// Azimuth of the x axis of data on a profile, or of a map; absent: perpendicular to the line, or north.
  /// Unlike the strike of `line`, which has no effect here, it leaves a line where it is.
  std::optional<double> strike_deg{};
};

/// Writes stations: to one file, or to a folder of files named after the sites where a format holds one
/// station. ModEM in 3-D and WSINV3DMT have x and y of a map, formats of a profile have y along it. Stations
/// that were rotated on demand before keep these axes where none are chosen. errors:
/// FileError; InvalidArgument for several stations in one such file, and where a format has no place for what
/// there is.
[[nodiscard]] WriteResult write(const std::string& path,
                                const std::vector<physics::mt::StationData>& stations, WriteFormat format,
                                const Placing& placing = {});

}  // namespace lodestone::io::survey
