// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/analysis/check.hpp"

#include <functional>
#include <string>
#include <vector>

/// The rules of `check`, each for one kind of mistake.
namespace lodestone::physics::mt {

/// Everything of a finding beside its kind and its text.
struct FindingDetails {
  FilePart part = FilePart::whole;
  std::vector<double> periods_s{};  ///< in any order
  std::string filled_in{};          ///< for the braces of the remedy
  std::function<void(StationData&)> mend{};
  std::vector<std::string> others{};  ///< further stations
};

/// The findings on one station.
class StationFindings {
 public:
  explicit StationFindings(const StationData& station) : name_(station.site.name), path_(station.path) {}
  void add(FindingKind kind, std::string text, FindingDetails details = {});
  /// Adds what a reader remarks: a text that may begin with file and line.
  void add_remark(FindingKind kind, const std::string& remark);
  /// Returns them, the gravest first.
  [[nodiscard]] std::vector<Finding> sorted() const;

 private:
  std::string name_, path_;
  std::vector<Finding> findings_;
};

/// Returns the median apparent resistivity of Zxy and Zyx; NaN without any. units: ohm m.
[[nodiscard]] double median_resistivity(const StationData& station);
/// Returns the median of what stations have whose resistivities are those of rocks; NaN where fewer than four
/// do. units: ohm m.
[[nodiscard]] double usual_resistivity(const std::vector<StationData>& stations);
/// Looks at the numbers of one station: quadrants, units, errors, scatter, tippers and periods, and whether
/// any layered earth has its curves. `usual_ohm_m`: of its survey, NaN where that is not known.
void check_curves(const StationData& station, double usual_ohm_m, StationFindings& findings);
/// Looks at the tensors of one station: distortion, errors of phase tensors that its file states.
void check_tensors(const StationData& station, StationFindings& findings);
/// Returns a few of the periods, the shortest first, and how many more there are: "1, 2, 3, 4, 5 s and 7
/// more".
[[nodiscard]] std::string periods_in_words(std::vector<double> periods_s);
/// Looks at stations of one place or of one name, whether they agree. shape: findings (stations). errors:
/// those of `rotated`.
void check_duplicates(const std::vector<StationData>& stations, std::vector<StationFindings>& findings);
/// Looks at the places of all stations. shape: findings (stations).
void check_places(const std::vector<StationData>& stations, std::vector<StationFindings>& findings);
/// Looks at the axes of all stations, by what they state and by what their neighbours have. shape: findings
/// (stations). errors: those of `rotated`.
void check_frames(const std::vector<StationData>& stations, std::vector<StationFindings>& findings);

}  // namespace lodestone::physics::mt
