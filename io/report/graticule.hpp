// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/geodesy/projection.hpp"
#include "io/report/map_sheet.hpp"

#include <functional>
#include <string>
#include <vector>

namespace lodestone::io::report {

/// Returns a place of the plane, metres, in the picture.
using PlaceOnMap = std::function<Point(double north_m, double east_m)>;

/// Lines of equal longitude and latitude over a map.
class Graticule {
 public:
  /// Chooses round numbers of degrees, about `n_lines` on the longer side.
  Graticule(const geodesy::Projection& projection, const MapExtent& extent, int n_lines);
  /// Draws the lines within a box, under the content of the map.
  void draw_lines(Canvas& canvas, const Box& box, const PlaceOnMap& place) const;
  /// Writes longitudes below the box and latitudes to its left, each where its line leaves the box.
  void draw_longitudes(Canvas& canvas, const Box& box, const PlaceOnMap& place) const;
  void draw_latitudes(Canvas& canvas, const Box& box, const PlaceOnMap& place) const;

 private:
  struct Line {
    std::string label;
    std::vector<physics::mt::PlanePoint> points{};
  };
  std::vector<Line> meridians_, parallels_;
};

/// Draws a bar of a round length, at most a quarter of the box wide, in the corner where it covers fewest of
/// the marks. returns: the box that it takes.
Box draw_scale_bar(Canvas& canvas, const Box& box, double metres_per_unit, const std::vector<Point>& marks);

}  // namespace lodestone::io::report
