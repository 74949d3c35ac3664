// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/config/table.hpp"
#include "engine/core/words.hpp"
#include "io/edi/reader.hpp"
#include "physics/mt/selection.hpp"

#include <string>
#include <utility>
#include <vector>

namespace lodestone::mt_invert::config {

/// Which frequencies files of stations contribute, where none are listed.
enum class UsedFrequencies { all, shared };
constexpr auto words(UsedFrequencies) {
  using enum UsedFrequencies;
  return core::Words<UsedFrequencies>{{all, "all"}, {shared, "shared"}};
}

/// Data of one form, for runs of some dimensions.
struct DataChoice {
  std::string what;  ///< in words, plural
  int least_dimension = 1, most_dimension = 3;
  std::vector<physics::mt::Datum> needed;    ///< files with none of these do not suit
  std::vector<physics::mt::Datum> selected;  ///< these, and what other keys add to them
};

/// Table [data]: where the observations come from and which of them are used.
struct DataConfig {
  ConfigTable table{{}, {}};  ///< the table itself, for messages
  // One of these six is given:
  std::vector<std::string> edi_files, station_files;
  std::string edi_folder, modem_file, mare2dem_file, mt2d_file;

  /// Returns the name of the key whose file brings its stations' places along the profile, and that file;
  /// both empty for files of stations.
  [[nodiscard]] std::pair<std::string, std::string> profile_source() const;
  io::edi::EdiOptions edi;
  std::vector<std::string> station_order;  ///< files of stations alone; empty: all, by file name
  UsedFrequencies frequencies = UsedFrequencies::all;
  physics::mt::ErrorFloors floors;  ///< as in `selection`
  physics::mt::Selection selection;
  /// Forms in order, of which the first that the files hold takes the place of `selection.data`; empty where
  /// the kind is given.
  std::vector<DataChoice> choices;
};

/// Reads the table [data]. Floors that it leaves open follow from the dimension, limits of phases of TE from
/// whether there is a sea. errors: ConfigError with file:line.
[[nodiscard]] DataConfig read_data_config(ConfigTable table, int dimension, bool has_sea);

/// Returns the places of general floors that are given, and no default, but of which a selection has no data.
[[nodiscard]] std::vector<std::string> floors_without_effect(const DataConfig& data,
                                                             const physics::mt::Selection& selection);

}  // namespace lodestone::mt_invert::config
