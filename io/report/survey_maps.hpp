// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/report/ellipses.hpp"
#include "io/report/graticule.hpp"
#include "io/report/map_sheet.hpp"
#include "physics/mt/analysis/induction.hpp"

#include <optional>
#include <string>
#include <vector>

namespace lodestone::io::report {

/// Maps of a survey side by side, over lines of longitude and latitude, or over kilometres where its place on
/// Earth is not known.
class SurveySheet {
 public:
  SurveySheet(const SurveyMap& map, int n_maps, int n_columns, double tallest);
  [[nodiscard]] Canvas canvas() const { return {sheet_.used_width(), sheet_.height()}; }
  [[nodiscard]] const MapSheet& sheet() const { return sheet_; }
  [[nodiscard]] Box box(int k) const { return sheet_.frame(k).box(); }
  [[nodiscard]] Point at(int k, double north_m, double east_m) const {
    return sheet_.at(sheet_.frame(k), north_m, east_m);
  }
  /// Returns the places of the sites on map k.
  [[nodiscard]] std::vector<Point> places(int k) const;
  void draw_ground(Canvas& canvas, int k) const;  ///< under the content
  /// Draws frame and labels over the content. returns: the box that the bar of its scale takes.
  Box draw_frame(Canvas& canvas, int k, const std::string& title) const;

 private:
  const SurveyMap& map_;
  MapExtent extent_;
  MapSheet sheet_;
  std::optional<Graticule> graticule_;
};

/// A map of sites, and the number of names that found no room.
struct SiteMap {
  Canvas picture;
  int n_names_left_out = 0;
};
/// Draws the sites with their names and the line of the sections. Sites without a tipper are hollow.
[[nodiscard]] SiteMap site_map(const std::vector<physics::mt::StationData>& stations, const SurveyMap& map,
                               const std::optional<SurveyLine>& line);

/// Draws the phase tensors at each period on a map. `stations`: with x to the north.
[[nodiscard]] Canvas ellipse_maps(const std::vector<physics::mt::StationData>& stations, const SurveyMap& map,
                                  const std::vector<double>& periods_s, EllipseFill fill);

/// Tippers longer than this are left out of maps, which say so.
inline constexpr double longest_arrow = 1.5;
/// Draws the induction arrows at each period on a map, with an arrow of reference. `stations`: with x to the
/// north.
[[nodiscard]] Canvas arrow_maps(const std::vector<physics::mt::StationData>& stations, const SurveyMap& map,
                                const std::vector<double>& periods_s,
                                physics::mt::ArrowConvention convention);

}  // namespace lodestone::io::report
