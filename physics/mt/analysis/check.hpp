// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/analysis/finding_rules.hpp"
#include "physics/mt/station_data.hpp"

#include <functional>
#include <string>
#include <vector>

namespace lodestone::physics::mt {

/// A finding about a station.
struct Finding {
  Severity severity{};
  std::string id;       ///< "reversed_channel"; one word for programs
  std::string station;  ///< name of the station
  std::string place;    ///< file, and line where one is known: "a.edi:12"
  std::string text;     ///< observation, with its numbers
  std::string remedy;   ///< option or edit that mends it
  /// Mends the station; empty where that takes a look at the data.
  std::function<void(StationData&)> mend{};
  FindingKind kind{};
  FilePart part = FilePart::whole;    ///< part of the file that it is about
  std::vector<double> periods_s{};    ///< periods that it is about, the shortest first; empty: all, or none
  std::vector<std::string> others{};  ///< further stations that it is about, and that `mend` mends

  /// Returns true where it is about this station.
  [[nodiscard]] bool is_about(const std::string& name) const;
};

/// Checks stations by themselves and beside each other: time factor, units and order of components by votes,
/// errors, scatter, periods, tippers, places and frames. Remarks of readers are findings, too. Findings come
/// in the order of the stations, the gravest of each first. docs/command-line.md has the rules and their
/// limits.
[[nodiscard]] std::vector<Finding> check(const std::vector<StationData>& stations);

/// Returns those findings of `check` that are about places.
[[nodiscard]] std::vector<Finding> check_of_places(const std::vector<StationData>& stations);

/// Mends what can be mended without a look at the data. Each station notes in its changes what was found and
/// that it was mended. returns: the number of findings that were.
int mend(std::vector<StationData>& stations, const std::vector<Finding>& findings);

}  // namespace lodestone::physics::mt
