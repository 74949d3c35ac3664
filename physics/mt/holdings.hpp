// SPDX-License-Identifier: Apache-2.0
// Small on purpose: writers of files need it, readers and simulations do not.
#pragma once

#include "physics/mt/observations.hpp"
#include "physics/mt/station_data.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace lodestone::physics::mt {

/// The content of a format of files beside impedances, tippers and one error for each.
struct Holdings {
  bool interstation = false, readings = false;
  bool covariance = false;    ///< covariance of all elements, whatever it comes from
  bool estimates = false;     ///< signal and noise, without the noise that E and H_z share
  bool local_places = false;  ///< coordinates x and y
};
/// Returns in words what a station has that such a format does not hold; empty where it holds all.
[[nodiscard]] std::vector<std::string> not_held(const StationData& station, const Holdings& holdings);

/// A text of a file, and in words what it could not hold.
struct Written {
  std::string text;
  std::vector<std::string> lost{};
};

/// The codes by which the rows of a format state what they hold.
struct FormatCodes {
  std::string component;                             ///< "io::occam2d::text_of", of errors
  std::string format;                                ///< "Occam2D"
  std::function<std::optional<int>(Datum)> code_of;  ///< nothing: the format does not hold the datum
};
/// Indices of data by station, frequency and code: the order of the rows.
using CodedData = std::map<std::tuple<int, int, int>, Eigen::Index>;
/// Returns the kept data in the order of the rows of a format. errors: InvalidArgument for a datum without a
/// code or without an error, and where no datum is kept.
[[nodiscard]] CodedData coded_data(const Observations& data, const FormatCodes& codes);

/// Turns all rows to the channels of the first where these differ, so that one frame serves all; with
/// `perpendicular` also channels of the first that are not 90° apart, or whose fields have axes of their own.
/// returns: what was done in words; empty where nothing was. errors: those of `rotated`.
[[nodiscard]] std::string put_in_one_frame(std::vector<StationRow>& rows, bool perpendicular);

}  // namespace lodestone::physics::mt
