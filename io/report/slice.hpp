// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/outcome.hpp"
#include "io/report/canvas.hpp"
#include "io/report/slice_drawing.hpp"

#include <limits>
#include <string>
#include <vector>

namespace lodestone::io::report {

/// Colour scale and extent shared by the panels of a section picture.
struct SectionPictureOptions {
  SectionQuantity quantity = SectionQuantity::resistivity;
  double min_log10 =
      std::numeric_limits<double>::quiet_NaN();  ///< end of the colour scale; NaN: from the model
                                                 ///< (2nd and 98th percentile, as `colours_of`)
  double max_log10 = std::numeric_limits<double>::quiet_NaN();
  double max_depth_m = 0.0;             ///< 0: the whole grid
  double y_min_m = 0.0, y_max_m = 0.0;  ///< equal: the whole grid; cuts of volumes have their own ends
  double vertical_exaggeration = 0.0;   ///< 0: one as near to 1 as heights and widths of panels allow
  double mask_below_m = 0.0;            ///< depths below are veiled (no longer resolved); 0: none
  double width = 1000.0;                ///< largest width of the picture
  bool contours = false;                ///< lines of equal values, as `draw_slice_contours`
  std::string remark = {};              ///< written below the axes, beside the exaggeration
};

/// A box drawn around cells, in the coordinates of the grid.
struct NamedBox {
  std::string name;
  physics::mesh::Box box;
};

/// The directions to which the ends of a profile point, as "W" and "E"; empty where its place on the map is
/// not known.
struct LineEnds {
  std::string first{}, last{};
  friend bool operator==(const LineEnds&, const LineEnds&) = default;
};
[[nodiscard]] LineEnds ends_of(const physics::mesh::Frame& frame);

/// One section, or a vertical cut of a volume, with the stations drawn on its surface.
struct SectionPanel {
  std::string title;
  physics::mesh::Model section;  ///< cells that are not finite stay white; a volume where `cut` is vertical
  std::vector<std::string> station_names;
  std::vector<double> station_y_m;
  std::vector<NamedBox> frames{};
  Eigen::VectorXd investigated{};  ///< cells below ½ are hatched; empty: none
  LineEnds ends{};                 ///< written below the lowest panel where no other panel differs
  physics::mesh::Cut cut{};        ///< the whole section, or a vertical cut of a volume
  std::string along = "Distance along profile";  ///< name of the horizontal axis
  double along_first_m = 0.0;                    ///< its value where a vertical cut begins
  std::vector<double> station_x_m{};             ///< places in a volume; empty: 0
  double stations_within_m =
      std::numeric_limits<double>::infinity();  ///< largest distance from a vertical cut
};

enum class Sites { shown, hidden };
/// Returns values of the cells in the grid of an outcome, in the scale of its property. Its sites, the
/// regions of its learned prior and its depth of investigation come along.
[[nodiscard]] SectionPanel panel_of(const inversion::Outcome& outcome, std::string title,
                                    Eigen::VectorXd values, Sites sites);

/// Draws sections one above the other with the same scales. Triangles at the colour bar: there are values
/// beyond it. A note says that white cells have no value. Each vertical cut of a volume has its own axis.
/// errors: InvalidArgument without panels, with a horizontal cut, and unless every earth is a section or is
/// cut; ShapeError.
[[nodiscard]] Canvas sections_picture(const std::vector<SectionPanel>& panels,
                                      const SectionPictureOptions& options = {});
/// Returns the final section of an outcome with its sites and the regions of a learned prior. The title
/// states if only the upper part is shown.
[[nodiscard]] Canvas section_picture(const inversion::Outcome& outcome,
                                     const SectionPictureOptions& options = {});
/// Returns the colours of the final section of an outcome in the part that pictures show. errors:
/// InvalidArgument unless it is a section.
[[nodiscard]] CellColours section_colours(const inversion::Outcome& outcome);
/// Draws the final section above the nearest one of its learned prior.
[[nodiscard]] Canvas prior_picture_of(const inversion::Outcome& outcome);

}  // namespace lodestone::io::report
