// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/outcome.hpp"
#include "io/report/axes.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace lodestone::io::report {

/// A rectangle on the map in the frame of the sites: x north and y east where the azimuth is 90°.
struct MapExtent {
  physics::mesh::Interval x_m{}, y_m{};
  [[nodiscard]] double longest_m() const { return std::max(x_m.length(), y_m.length()); }
  friend bool operator==(const MapExtent&, const MapExtent&) = default;
};

/// Returns the sites of an outcome that have a name, x and y; none where it has no such columns.
[[nodiscard]] std::vector<physics::mesh::Site> map_sites(const inversion::Outcome& outcome);
/// Returns the rectangle around sites with a margin of 15 % of their longer extent, inside the grid. Its
/// shorter side is at least 0.4 times the longer one. Without sites it is the whole grid; a single site has a
/// margin of five of the narrowest cells.
[[nodiscard]] MapExtent extent_around(const std::vector<physics::mesh::Site>& sites,
                                      const physics::mesh::TensorGrid& grid);
/// Returns the same without a grid that limits it; a single site has the margin given. errors:
/// InvalidArgument without sites.
[[nodiscard]] MapExtent extent_around(const std::vector<physics::mesh::Site>& sites, double lone_margin_m);

/// The names of the axes of maps: "x, north" and "y, east"; "x" and "y" where the frame is turned.
struct MapAxes {
  std::string x = "x, north", y = "y, east";
};
[[nodiscard]] MapAxes map_axes(const physics::mesh::Frame& frame);

/// Maps of one extent in rows and columns, y to the right and x upwards at one scale. A colour bar has its
/// place to the right.
class MapSheet {
 public:
  static constexpr double width = 1000.0, usual_height = 420.0;
  /// `tallest`: largest height of a map.
  MapSheet(MapExtent extent, MapAxes axes, int n_maps, int n_columns, double tallest = usual_height);
  [[nodiscard]] double height() const;
  /// Returns the width that its maps and the colour bar take, where they fill no row.
  [[nodiscard]] double used_width() const;
  [[nodiscard]] const LengthUnit& unit() const { return unit_; }
  [[nodiscard]] bool is_at_left(int k) const { return k % n_columns_ == 0; }
  [[nodiscard]] bool is_at_bottom(int k) const { return k + n_columns_ >= n_maps_; }
  /// Returns the frame of map k; only those at the left and at the bottom have labels.
  [[nodiscard]] Frame frame(int k) const;
  [[nodiscard]] Box colour_bar() const;
  [[nodiscard]] Point at(const Frame& frame, double x_m, double y_m) const {
    return frame.at(y_m / unit_.metres, x_m / unit_.metres);
  }
  /// Draws the frame of map k, over its content, and the text above it.
  void draw_frame(Canvas& canvas, int k, const std::string& title) const;
  /// Draws the text above map k.
  void draw_map_title(Canvas& canvas, int k, const std::string& title) const;
  /// Draws the title of the sheet, and a remark to the right of it.
  void draw_title(Canvas& canvas, const std::string& title, const std::string& remark = {}) const;

 private:
  [[nodiscard]] Box box(int k) const;
  MapExtent extent_;
  MapAxes axes_;
  int n_maps_, n_columns_;
  LengthUnit unit_;
  double map_width_, map_height_;
};

/// A site as a map shows it.
struct SiteMark {
  std::string name;
  Point at;  ///< in the picture
};
/// Returns the radius of circles or ellipses, within limits, that leave most neighbours apart.
[[nodiscard]] double mark_radius(const std::vector<Point>& places, double least, double most);

/// Boxes of a picture that names keep free, and boxes that they avoid where they have a choice.
struct NamesAround {
  std::vector<Box> taken = {}, avoided = {};
};
/// Writes the names of sites beside their marks of this radius. A name that finds no room in the box without
/// touching marks, other names or boxes that are taken is left out. Where no site near it has a name, it may
/// stand apart with a line that leads to it. returns: the number of names that are left out.
int draw_site_names(Canvas& canvas, const std::vector<SiteMark>& sites, double radius, const Box& box,
                    const NamesAround& around = {});

}  // namespace lodestone::io::report
